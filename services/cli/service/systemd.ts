import { DESCRIPTION, type ServiceTask } from './task.ts';

/**
 * Quotes a word for a unit file. `%` begins a specifier, `$` a variable, and quotes and backslashes are escaped as in C
 * (systemd.syntax, "Quoting"; systemd.service, "Command lines").
 */
function quoted(word: string, isCommand: boolean): string {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('%', '%%');
  return `"${isCommand ? escaped.replaceAll('$', '$$$$') : escaped}"`;
}

/**
 * Writes a unit of the user's systemd. It starts with the session of the user and again after a crash, but not after wrong
 * use or a sign-out (statuses 2 and 3), which a new start does not mend. Keys and sessions get their modes from the program,
 * and received files from the mask.
 */
export function unitOf({ command, environment, umask }: ServiceTask): string {
  const [program = '', ...args] = command;
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${quoted(`${name}=${value}`, false)}`,
  );
  // The first word of a command line takes no variables: in it `$` is a letter.
  const line = [quoted(program, false), ...args.map((word) => quoted(word, true))].join(' ');
  return `[Unit]
Description=${DESCRIPTION}
StartLimitIntervalSec=0

[Service]
ExecStart=${line}
${variables.map((one) => `${one}\n`).join('')}Restart=on-failure
RestartSec=15
RestartPreventExitStatus=2 3
NoNewPrivileges=yes
UMask=${umask.toString(8).padStart(4, '0')}

[Install]
WantedBy=default.target
`;
}

/** Returns the words of the command in a unit that `unitOf` has written. */
export function commandIn(unit: string): string[] {
  const line = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';
  const unescaped = (word: string): string =>
    word.replace(/\\n|\\(.)|%%|\$\$/g, (found, letter: string | undefined) =>
      found === '\\n' ? '\n' : (letter ?? found.charAt(0)),
    );
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => unescaped(word));
}
