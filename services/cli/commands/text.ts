import type { BatonClient, ClipboardEntry } from '../../../shared/client/index.ts';
import { readInput } from '../ask.ts';
import { comparedWith } from '../away.ts';
import { readClipboard, writeClipboard } from '../clipboard/whole.ts';
import { type Context, deviceNamed, untilOver } from '../context.ts';
import { CliError, EXIT, usageError } from '../failure.ts';
import { colours, oneLine, plain, quoted } from '../output.ts';
import {
  checkCompared,
  expectsEncryption,
  type Keyed,
  keyedAt,
  keyedToSend,
  LOCK,
  NOT_ENCRYPTED,
  sealingAt,
} from '../sealing.ts';
import { makeReader, sendSealed } from '../texts.ts';

const CLIPBOARD_BYTES = 65_536;
const MESSAGE_BYTES = 4_096;

/** Refuses U+FFFD: a shell or a clipboard writes it for bytes that are not text, and the original is lost. */
function checkText(text: string, what: string): void {
  if (text.isWellFormed() && !text.includes('\ufffd')) return;
  throw usageError(`${what} has something in it that is no text. Give it by standard input, or send it as a file.`);
}

/** Puts a text into the clipboard that only devices with keys can read, and names the devices that cannot. */
async function copySealed({ output, signal }: Context, baton: BatonClient, keyed: Keyed, text: string) {
  const devices = await baton.devices.list({ signal });
  const { sealing, keyring } = await comparedWith({ output }, keyed, devices);
  const { sealed: _, content: __, ...entry } = await sealing.texts.setClipboard(keyring, text, { signal });
  const unkeyed = devices.filter(({ device_id: id }) =>
    keyring.ring.body.members.every((each) => each.device_id !== id),
  );
  const names = unkeyed.map(({ name }) => oneLine(name)).join(', ');
  if (unkeyed.length > 0)
    output.note(
      `Without the key of the account, and cannot read it: ${names}. \`--plain\` lets everybody, the service too.`,
    );
  output.note(`${LOCK} Encrypted.`);
  output.result({ ...entry, bytes: Buffer.byteLength(text), sealed: true }, null);
}

/** Sets the account's clipboard from standard input, or from the clipboard of this computer. */
export async function copy(context: Context, { system, plain: isPlain }: { system?: boolean; plain?: boolean }) {
  const { output, signal } = context;
  const text = system ? await readClipboard(signal) : await readInput(CLIPBOARD_BYTES, 'The clipboard', signal);
  if (system) checkText(text, 'The clipboard of this computer');
  await context.withClient(async (baton, url) => {
    if (isPlain) await checkCompared(context, url);
    const keyed = isPlain ? null : await keyedToSend(context, url);
    if (keyed !== null) return copySealed(context, baton, keyed, text);
    const { content, ...entry } = await baton.clipboard.set(text, { signal });
    if (content !== text) output.note('Control characters were left out: the clipboard takes plain text.');
    output.result({ ...entry, bytes: Buffer.byteLength(content), sealed: false }, null);
  });
}

/** Returns the text of the entry. Throws if the text must not be used, and never returns an empty text instead. */
async function textOf(context: Context, url: string, entry: ClipboardEntry, isPlain: boolean): Promise<string> {
  const keyed = await keyedAt(context, url);
  const isExpected = keyed !== null || (!isPlain && (await expectsEncryption(context, url, keyed)));
  if (entry.sealed === undefined && !isExpected) return entry.content;
  const sealing = keyed?.sealing ?? (await sealingAt(context, url));
  const received = await sealing.texts.openClipboard(keyed?.keyring ?? null, entry);
  if (received.kind === 'opened' || (received.kind === 'plain' && isPlain)) return received.text;
  const refused = { status: EXIT.refused, code: 'not_encrypted' };
  if (received.kind === 'waits' || received.kind === 'refused') {
    const { message: said, code } = received.problem;
    throw new CliError(`${said}.`, { ...refused, code });
  }
  throw new CliError(`The clipboard is ${NOT_ENCRYPTED}. \`--plain\` takes it all the same.`, refused);
}

/** Writes the account's clipboard to standard output, or into the clipboard of this computer. */
export async function paste(context: Context, { system, plain: isPlain }: { system?: boolean; plain?: boolean }) {
  const { output, signal } = context;
  await context.withClient(async (baton, url) => {
    const entry = await baton.clipboard.get({ signal });
    if (entry.updated_at === null) throw new CliError('The clipboard is empty.', { code: 'empty' });
    const text = await textOf(context, url, entry, isPlain === true);
    const { sealed, ...rest } = entry;
    if (system) await writeClipboard(text, signal);
    if (output.isJson) return output.result({ ...rest, content: text, sealed: sealed !== undefined }, null);
    // A file or a pipe gets exactly the copied bytes.
    if (!system) process.stdout.write(process.stdout.isTTY ? plain(text) : text);
  });
}

/** Sends a short text to a device, or to all others with `*`. `-` is standard input. */
export async function message(
  context: Context,
  to: string,
  words: readonly string[],
  { plain: isPlain = false }: { plain?: boolean },
) {
  const { output, signal } = context;
  const given = words.join(' ');
  const isInput = given === '-' || given === '';
  const text = isInput ? await readInput(MESSAGE_BYTES, 'A message', signal) : given;
  if (!isInput) checkText(text, 'The message');
  await context.withClient(async (baton, url) => {
    const keyed = await (isPlain ? keyedAt : keyedToSend)(context, url);
    const target = to === '*' ? '*' : { device_id: (await deviceNamed(baton, to, signal)).device_id };
    if (keyed !== null) {
      const id = target === '*' ? '*' : target.device_id;
      return sendSealed(context, baton, keyed, { to: id, text, plain: isPlain });
    }
    const sent = await baton.messages.send(target, text, { signal });
    const lines = sent.to.map(({ name, online, pushed, error }) => {
      const how = error ?? (online ? 'connected' : pushed ? 'notified' : 'kept until it comes');
      return `${oneLine(name)}: ${how}`;
    });
    output.result({ ...sent, sealed: false }, lines.join('\n'));
  });
}

/** Makes the error that keeps a message in the inbox. The message is handed out again with the next connection. */
const staysThere = (): CliError => new CliError('This message stays in the inbox.', { code: 'stays' });

/** Shows and takes the waiting messages, oldest first. With `keep` they stay. With `follow` it shows later messages too. */
export async function inbox(
  context: Context,
  { keep = false, follow, plain: isPlain = false }: { keep?: boolean; follow?: boolean; plain?: boolean },
) {
  const { output, signal } = context;
  const withClient = follow ? context.withEndlessClient : context.withClient;
  await withClient(async (baton, url) => {
    const reader = await makeReader(context, url, isPlain);
    if (follow) {
      let last = Promise.resolve(true);
      baton.on('event', ({ name }) => {
        if (name === 'keys') reader.onKeys();
      });
      baton.messages.receive(async (each) => {
        // Messages are shown one after the other, in their order.
        last = last.then(
          () => reader.show(each, keep),
          () => reader.show(each, keep),
        );
        if (!(await last)) throw staysThere();
      });
      baton.start();
      return await untilOver(context, baton);
    }
    const waiting = await baton.messages.list({ signal });
    const taken: string[] = [];
    for (const each of waiting) if (await reader.show(each, keep)) taken.push(each.message_id);
    if (!keep && taken.length > 0) await baton.messages.acknowledge(taken, { signal });
    if (waiting.length === 0) output.note('No messages.');
  });
}

/** Shows every event of the account as a line, until it is interrupted. */
export async function watch(context: Context) {
  const { output } = context;
  await context.withEndlessClient(async (baton) => {
    baton.on('state', (state) => output.note(colours.dim(state)));
    baton.on('event', ({ name, data, id }) => {
      const head = `${colours.dim(new Date().toLocaleTimeString())} ${colours.bold(name)} `;
      output.result({ event: name, data, id }, quoted(head, oneLine(JSON.stringify(data))));
    });
    baton.start();
    return await untilOver(context, baton);
  });
}
