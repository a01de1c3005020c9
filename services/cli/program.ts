import { Command, Option } from 'commander';
import { approve } from './commands/approve.ts';
import { clipboard } from './commands/clipboard.ts';
import { open, seal } from './commands/filters.ts';
import { invite } from './commands/invite.ts';
import { devices, remove, rename, status } from './commands/devices.ts';
import { keys } from './commands/keys.ts';
import { receive } from './commands/receive.ts';
import { send, type SendOptions } from './commands/send.ts';
import { service } from './commands/service.ts';
import { login, logout } from './commands/sign-in.ts';
import { copy, inbox, message, paste, watch } from './commands/text.ts';
import { cancel, transfers } from './commands/transfers.ts';
import { completionFor } from './completion.ts';
import { type Context, makeContext } from './context.ts';
import { manualOf } from './manual.ts';
import { rendered } from './output.ts';

const EXIT_HELP = `
Exit status: 0 done, 1 failed, 2 wrong use, 3 not signed in, 4 no such device or file,
5 refused or not allowed, 6 the service cannot be reached or does not work, 130 interrupted.

Environment: BATON_URL (the service), BATON_CONFIG_DIR (where the session is kept), NO_COLOR.`;

/** Errors repeat arguments, which a script may have got from elsewhere. */
const harmless = {
  writeOut: (text: string) => void process.stdout.write(rendered(text)),
  writeErr: (text: string) => void process.stderr.write(rendered(text)),
};

/** Makes a command. Its action gets the context before its arguments. */
type Define = (usage: string, about: string) => Command;

/** Gathers the values of an option that is given more than once. */
const gathered = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value];

const contextOf = (made: Command): Context => makeContext(made.optsWithGlobals());

/** Adds the commands for the session of this device, and `approve`. */
function addSignIn(command: Define): void {
  command('login [url]', 'sign this device in: shows a QR code and a link, and waits for the approval')
    .option('--name <name>', 'what this device is called; default its host name')
    .option('--force', 'also when it is signed in already')
    .option('--plain-http', 'also where the address is not encrypted, in a network that you trust')
    .action(
      async (
        url: string | undefined,
        options: { name?: string; force?: boolean; plainHttp?: boolean },
        made: Command,
      ) => login(contextOf(made), url, options),
    );
  command('logout', 'end the session of this device').action(async (_: object, made: Command) =>
    logout(contextOf(made)),
  );
  command('status', 'who this is, and whether the service answers').action(async (_: object, made: Command) =>
    status(contextOf(made)),
  );
  command('approve <link>', 'let a device in that shows this link (or its REQUEST.CODE.KEY)')
    .option('--guest', 'as a guest')
    .option('--once', 'for an hour')
    .option('--deny', 'refuse it')
    .option('-y, --yes', 'without asking')
    .action(async (link: string, options: object, made: Command) => approve(contextOf(made), link, options));
}

/** Adds the command that invites a new device. */
function addInvite(command: Define): void {
  command('invite', 'show a code that a new device scans, and let it in')
    .option('--guest', 'as a guest')
    .option('--once', 'for an hour')
    .action(async (options: object, made: Command) => invite(contextOf(made), options));
}

function addKeys(command: Define): void {
  command(
    'keys [action]',
    'the devices with keys, and what is to be done; create, link, rotate, keep, words, renew, recover',
  )
    .summary('encrypt the account: which devices have keys')
    .addHelpText(
      'after',
      `
create   encrypts the account: makes its key, with this device alone
link     asks a device that has keys to give them to this one, which is signed in already
rotate   replaces the key of the account, without devices that are not signed in any more
keep     cancels the removal of all keys that a device without keys has announced
words    makes 24 recovery words, which replace earlier ones, and shows them once
renew    has the recovery words, typed or from standard input, prove the present list of devices
recover  gives this device keys by the recovery words, typed or from standard input`,
    )
    .option('--anew', 'create: although the keys that this device had are gone from the service')
    .option('-y, --yes', 'rotate, words: without asking')
    .action(async (action: string | undefined, options: { anew?: boolean; yes?: boolean }, made: Command) =>
      keys(contextOf(made), action, options),
    );
}

function addFilters(command: Define): void {
  command('seal', 'a filter: seals a short text for the devices with keys, as `sealed` of a message')
    .option('--to <name>', 'for this device alone')
    .action(async (options: { to?: string }, made: Command) => seal(contextOf(made), options));
  command('open', 'a filter: opens what `seal` or a message has sealed for this device')
    .option('--from <name>', 'only from this device')
    .action(async (options: { from?: string }, made: Command) => open(contextOf(made), options));
}

function addDevices(command: Define): void {
  command('devices', 'the devices of the account')
    .option('--watch', 'again at each change, until Ctrl-C')
    .option('--names', 'the names alone, a line each')
    .action(async (options: { watch?: boolean; names?: boolean }, made: Command) => devices(contextOf(made), options));
  command('rename <names...>', 'rename NEW: this device; rename OLD NEW: another one').action(
    async (names: string[], _: object, made: Command) => rename(contextOf(made), names),
  );
  command('remove <name>', 'sign a device out and forget it').action(async (name: string, _: object, made: Command) =>
    remove(contextOf(made), name),
  );
}

function addFiles(command: Define): void {
  command('send [files...]', 'send files, folders, or - for standard input')
    .option('--to <name>', 'the device; more than once', gathered)
    .option('--name <name>', 'what standard input is called there; default input')
    .option('--leave', 'do not wait for the receiver: end when all of it fits in the relay')
    .option(
      '--exclude <pattern>',
      'leave out of folders: a name, or a path with a slash; * ? [] {} **; more than once',
      gathered,
    )
    .option('--watch <folder>', 'send each new finished file of a folder once, until Ctrl-C')
    .option('--limit-rate <rate>', 'send at most so many bytes per second: 500K, 2M')
    .option('--continue', 'go on with everything that was interrupted')
    .option('--plain', 'with keys: not encrypted, so that a device without keys and the service can read it')
    .option('--progress', 'with --json: also how far it is, a line a second')
    .action(async (files: string[], options: SendOptions, made: Command) => send(contextOf(made), files, options));
  command('receive', 'take files, until Ctrl-C')
    .option('--dir <folder>', 'where they go; - is standard output, for one file', '.')
    .option('--from <name>', 'of this device alone')
    .option('-y, --yes', 'without asking')
    .option('--once', 'end after the first transfer')
    .option('--plain', 'with keys and --yes: also what is not encrypted, which the service could have replaced')
    .option('--hidden', 'store names that begin with a dot as they are; else the dot becomes _')
    .option('--notify', 'show what was stored as a notification of the desktop')
    .option('--progress', 'with --json: also how far it is, a line a second')
    .action(async (options: { dir: string }, made: Command) => receive(contextOf(made), options));
  command('transfers', 'the transfers of this device that are under way, or wait').action(
    async (_: object, made: Command) => transfers(contextOf(made)),
  );
  command('cancel <id>', 'end a transfer, for both sides').action(async (id: string, _: object, made: Command) =>
    cancel(contextOf(made), id),
  );
}

/** Adds the command for receiving in the background. */
function addService(command: Define): void {
  command('service <action>', 'receive files in the background: install, uninstall, status')
    .addHelpText(
      'after',
      `
install    starts receiving now and at each login, with notifications of the desktop
uninstall  ends that
status     tells whether it runs`,
    )
    .option('--dir <folder>', 'install: where files go; default Downloads in the home folder')
    .option('--from <name>', 'install: of this device alone')
    .option('--plain', 'install: with keys, also what is not encrypted')
    .option('--print', 'install: show the file that would be written, and do nothing')
    .action(async (action: string, options: object, made: Command) => service(contextOf(made), action, options));
}

/** Adds the commands for messages, the clipboard and events. */
function addTexts(command: Define): void {
  command('message <name> [text...]', "send a short text; '*' is all other devices, - is standard input")
    .option('--plain', 'also to devices without keys, so that the service can read it')
    .action(async (name: string, text: string[], options: { plain?: boolean }, made: Command) =>
      message(contextOf(made), name, text, options),
    );
  command('inbox', 'show the messages that wait, and take them')
    .option('--keep', 'leave them there')
    .option('--follow', 'and those that come, until Ctrl-C')
    .option('--plain', 'with keys: also what is not encrypted, which the service could have written')
    .action(async (options: { keep?: boolean; follow?: boolean }, made: Command) => inbox(contextOf(made), options));
  command('copy', 'put standard input into the clipboard')
    .option('--system', 'what is in the clipboard of this computer')
    .option('--plain', 'with keys: not encrypted, so that devices without keys and the service can read it')
    .action(async (options: { system?: boolean }, made: Command) => copy(contextOf(made), options));
  command('paste', 'write the clipboard to standard output')
    .option('--system', 'into the clipboard of this computer')
    .option('--plain', 'with keys: also what is not encrypted, which the service could have written')
    .action(async (options: { system?: boolean }, made: Command) => paste(contextOf(made), options));
  command(
    'clipboard',
    'carry texts both ways between the clipboard of this computer and the encrypted one of the account',
  )
    .summary('keep the clipboard of this computer and that of the account the same')
    .option('--watch', 'until Ctrl-C')
    .action(async (options: { watch?: boolean }, made: Command) => clipboard(contextOf(made), options));
  command('watch', 'every event of the account, until Ctrl-C').action(async (_: object, made: Command) =>
    watch(contextOf(made)),
  );
}

/** Makes the program with its commands, their options and their help. */
export function makeProgram(version: string): Command {
  const program = new Command('baton')
    .description('Files, messages and one clipboard between the devices of one account.')
    .version(version)
    .addOption(new Option('--json', 'results as lines of JSON'))
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('(baton --help says what there is)')
    .configureOutput(harmless)
    .exitOverride();
  const command: Define = (usage, about) => {
    const made = program.command(usage).description(about).exitOverride().configureOutput(harmless);
    // The option may also follow the command.
    return made.addOption(new Option('--json', 'results as lines of JSON').hideHelp());
  };
  const adders = [addSignIn, addInvite, addKeys, addFilters, addDevices, addFiles, addService, addTexts];
  for (const add of adders) add(command);
  command('completion <shell>', 'what bash, zsh, fish or powershell reads to complete these commands').action(
    (shell: string) => {
      process.stdout.write(completionFor(program, shell));
    },
  );
  command('manual', 'this program as a page of the manual').action(() => {
    process.stdout.write(manualOf(program, { version, notes: EXIT_HELP }));
  });
  return program;
}
