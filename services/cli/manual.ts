import type { Command, Option } from 'commander';

/** Escapes text for roff: no backslash, and no line that could be a request. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

const shown = (options: readonly Option[]): Option[] => options.filter(({ hidden }) => !hidden);

const optionLines = (options: readonly Option[]): string[] =>
  shown(options).flatMap(({ flags, description }) => ['.TP', `.B ${roff(flags)}`, roff(description)]);

function commandLines(command: Command): string[] {
  const options = optionLines(command.options);
  return [
    ...['.TP', `.B ${roff(`${command.name()} ${command.usage()}`)}`, roff(command.description())],
    ...(options.length > 0 ? ['.RS', ...options, '.RE'] : []),
  ];
}

/** Makes a page of section 1 of the manual from the help of the program. `notes`: the end of its help. */
export function manualOf(program: Command, { version, notes }: { version: string; notes: string }): string {
  return [
    `.TH BATON 1 "" "Baton ${version}"`,
    ...['.SH NAME', `baton \\- ${roff(program.description())}`],
    ...['.SH SYNOPSIS', '.B baton', 'command [options]'],
    ...['.SH COMMANDS', ...program.commands.flatMap(commandLines)],
    ...['.SH OPTIONS', ...optionLines(program.options)],
    ...['.SH EXIT STATUS AND ENVIRONMENT', '.nf', roff(notes.trim()), '.fi', ''],
  ].join('\n');
}
