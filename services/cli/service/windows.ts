import { DESCRIPTION, type ServiceTask } from './task.ts';
import { xmlOf } from './xml.ts';

/**
 * Quotes a word as the C runtime of Windows reads it: backslashes count only before a quote ("Parsing C command-line
 * arguments").
 */
export const windowsWord = (word: string): string =>
  `"${word.replace(/(\\*)($|")/g, (_, slashes: string, end: string) => slashes + slashes + (end === '"' ? '\\"' : ''))}"`;

/** A letter of JScript that needs no encoding of the file. */
const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Writes a script of the Windows Script Host that runs the command without a window (`WshShell.Run`, window style 0), waits,
 * and ends with its status. Without it the task would leave a console window on the desktop.
 */
export function scriptOf({ command }: Pick<ServiceTask, 'command'>): string {
  const line = JSON.stringify(command.map(windowsWord).join(' ')).replace(/[^ -~]/g, escaped);
  return `var shell = new ActiveXObject("WScript.Shell");
var command = ${line};
WScript.Quit(shell.Run(command, 0, true));
`;
}

/** Returns the first words of the command in a script that `scriptOf` has written. Paths of Windows have no quotes. */
export function commandIn(script: string): string[] {
  const line = JSON.parse(/^var command = (".*");$/m.exec(script)?.[1] ?? '""') as string;
  return [...line.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word).slice(0, 2);
}

/** Ends the script and the program that it runs. The end of a task ends only the script. */
export const endingOf = (script: string): string =>
  `Get-CimInstance Win32_Process -Filter "Name='wscript.exe'" |
Where-Object { $_.CommandLine -and $_.CommandLine.Contains('${script.replaceAll("'", "''")}') } |
ForEach-Object { taskkill.exe /T /F /PID $_.ProcessId }`;

/** Prints the state as a number, because its name may be translated: 4 is running (MSFT_ScheduledTask). */
export const stateOf = (task: string): string => `[int](Get-ScheduledTask -TaskName '${task}' -ErrorAction Stop).State`;

/**
 * Writes a task of the Windows task scheduler (schema 1.2), which runs a script. It starts when the user logs on. The
 * scheduler does not start a program again that has ended, so it tries every five minutes and starts nothing while the
 * program runs (`IgnoreNew`). Priority 6 is that of ordinary programs; the default 7 is below it. A task has no variables of
 * its own.
 */
export function taskOf(script: string, user: string): string {
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${xmlOf(DESCRIPTION)}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Repetition>
        <Interval>PT5M</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <Enabled>true</Enabled>
      <UserId>${xmlOf(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${xmlOf(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>6</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
    <Hidden>true</Hidden>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>wscript.exe</Command>
      <Arguments>${xmlOf(['//B', '//Nologo', '//E:JScript', windowsWord(script)].join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}
