import type { Command } from 'commander';
import { usageError } from './failure.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const longOf = (command: Command): string[] =>
  command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));

function forBash(program: Command): string {
  const cases = program.commands.map((each) => `    ${each.name()}) words='${longOf(each).join(' ')}' ;;`);
  return `_baton() {
  local word=\${COMP_WORDS[COMP_CWORD]} words
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words='${program.commands.map((each) => each.name()).join(' ')}'; fi
  COMPREPLY=($(compgen -W "$words --help" -- "$word"))
  case \${COMP_WORDS[1]} in send) [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}
complete -o filenames -F _baton baton
`;
}

function forZsh(program: Command): string {
  const names = program.commands.map(
    (each) => `    ${quoted(`${each.name()}:${each.summary() || each.description()}`)}`,
  );
  const cases = program.commands.map((each) => `    ${each.name()}) compadd -- ${longOf(each).join(' ')}; _files ;;`);
  return `#compdef baton
_baton() {
  local -a commands
  commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case $words[2] in
${cases.join('\n')}
  esac
}
compdef _baton baton
`;
}

function forFish(program: Command): string {
  const lines = program.commands.flatMap((each) => [
    `complete -c baton -n __fish_use_subcommand -a ${each.name()} -d ${quoted(each.summary() || each.description())}`,
    ...each.options.map(
      ({ long, description }) =>
        `complete -c baton -n '__fish_seen_subcommand_from ${each.name()}' -l ${(long ?? '').slice(2)} -d ${quoted(description)}`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}

/** The text that a shell reads once to complete the commands of \`program\`. */
export function completionFor(program: Command, shell: string): string {
  const makers: Readonly<Record<string, (program: Command) => string>> = { bash: forBash, zsh: forZsh, fish: forFish };
  const make = makers[shell];
  if (make === undefined) throw usageError('Completion is for bash, zsh or fish.');
  return make(program);
}
