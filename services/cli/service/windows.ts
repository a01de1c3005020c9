import { DESCRIPTION, type ServiceTask } from './task.ts';
import { xmlOf } from './xml.ts';

/**
 * Quotes a word as the C runtime of Windows reads it: backslashes count only before a quote ("Parsing C command-line
 * arguments").
 */
export const windowsWord = (word: string): string =>
  `"${word.replace(/(\\*)($|")/g, (_, slashes: string, end: string) => slashes + slashes + (end === '"' ? '\\"' : ''))}"`;

/**
 * Writes a task of the Windows task scheduler (schema 1.2). It starts when the user logs on, and again a minute after it has
 * failed. A task has no variables of its own.
 */
export function taskOf({ command }: Pick<ServiceTask, 'command'>, user: string): string {
  const [program = '', ...args] = command;
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${xmlOf(DESCRIPTION)}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
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
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
    <Hidden>true</Hidden>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${xmlOf(program)}</Command>
      <Arguments>${xmlOf(args.map(windowsWord).join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}
