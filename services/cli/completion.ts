import type { Command } from 'commander';
import { usageError } from './failure.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const longOf = (command: Command): string[] =>
  command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));

/** The options and commands that take the name of a device. */
const NAMING_OPTIONS = ['--to', '--from'];
const NAMING_COMMANDS = ['rename', 'remove', 'message'];
/** The command that lists names. It gives none if nobody is signed in, or the service cannot be reached. */
const NAMES = 'baton devices --names 2>/dev/null';

function forBash(program: Command): string {
  const cases = program.commands.map((each) => `    ${each.name()}) words='${longOf(each).join(' ')}' ;;`);
  return `_baton() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} name words
  case $before in
    ${[...NAMING_OPTIONS, ...NAMING_COMMANDS].join('|')})
      # compgen -W would carry out commands that stand in a name.
      COMPREPLY=()
      while IFS= read -r name; do
        if [[ $name == "$word"* ]]; then COMPREPLY+=("$(printf %q "$name")"); fi
      done < <(${NAMES})
      return ;;
  esac
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
  case $words[CURRENT-1] in
    ${[...NAMING_OPTIONS, ...NAMING_COMMANDS].join('|')}) compadd -- "\${(@f)$(${NAMES})}"; return ;;
  esac
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
    ...each.options.map(({ long, description }) => {
      const names = NAMING_OPTIONS.includes(long ?? '') ? ` -x -a '(${NAMES})'` : '';
      return `complete -c baton -n '__fish_seen_subcommand_from ${each.name()}' -l ${(long ?? '').slice(2)} -d ${quoted(description)}${names}`;
    }),
  ]);
  const names = `complete -c baton -n '__fish_seen_subcommand_from ${NAMING_COMMANDS.join(' ')}' -f -a '(${NAMES})'`;
  return `${[...lines, names].join('\n')}\n`;
}

/** Makes the completion for PowerShell, on Windows and elsewhere. */
function forPowerShell(program: Command): string {
  const text = (words: readonly string[]) => `@(${words.map((word) => `'${word.replaceAll("'", "''")}'`).join(', ')})`;
  const cases = program.commands.map((each) => `        '${each.name()}' { ${text(longOf(each))} }`);
  return `Register-ArgumentCompleter -Native -CommandName baton -ScriptBlock {
    param($word, $ast, $position)
    $typed = @($ast.CommandElements | ForEach-Object { $_.ToString() })
    $before = if ($word -eq '') { $typed[-1] } else { $typed[-2] }
    $words = if (${text([...NAMING_OPTIONS, ...NAMING_COMMANDS])} -contains $before) {
        baton devices --names 2>$null
    } elseif ($typed.Count -lt 2 -or ($typed.Count -eq 2 -and $word -ne '')) {
        ${text(program.commands.map((each) => each.name()))}
    } else {
        switch ($typed[1]) {
${cases.join('\n')}
        }
    }
    $words | Where-Object { $_ -like "$word*" } | ForEach-Object {
        $shown = if ($_ -notmatch '^[\\w.-]+$') { "'" + $_.Replace("'", "''") + "'" } else { $_ }
        [System.Management.Automation.CompletionResult]::new($shown, $_, 'ParameterValue', $_)
    }
}
`;
}

/** Returns the text that a shell reads once to complete the commands of `program`. */
export function completionFor(program: Command, shell: string): string {
  const makers: Readonly<Record<string, (program: Command) => string>> = {
    ...{ bash: forBash, zsh: forZsh, fish: forFish, powershell: forPowerShell },
  };
  const make = makers[shell];
  if (make === undefined) throw usageError('Completion is for bash, zsh, fish or powershell.');
  return make(program);
}
