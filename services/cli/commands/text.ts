import clipboard from 'clipboardy';
import type { Message } from '../../../shared/client/index.ts';
import { readInput } from '../ask.ts';
import { type Context, deviceNamed, untilOver } from '../context.ts';
import { CliError, usageError } from '../failure.ts';
import { colours, deviceNameOf, oneLine, plain, quoted } from '../output.ts';

const CLIPBOARD_BYTES = 65_536;
const MESSAGE_BYTES = 4_096;

/** Refuses U+FFFD: a shell or a clipboard puts it in place of bytes that are no text, and the original is lost. */
function checkText(text: string, what: string): void {
  if (text.isWellFormed() && !text.includes('\ufffd')) return;
  throw usageError(`${what} has something in it that is no text. Give it by standard input, or send it as a file.`);
}

/** Sets the account's clipboard from standard input, or from the one of this computer. */
export async function copy(context: Context, { system }: { system?: boolean }) {
  const { output, signal } = context;
  const text = system ? await clipboard.read() : await readInput(CLIPBOARD_BYTES, 'The clipboard');
  if (system) checkText(text, 'The clipboard of this computer');
  await context.withClient(async (baton) => {
    const { content, ...entry } = await baton.clipboard.set(text, { signal });
    if (content !== text) output.note('Control characters were left out: the clipboard takes plain text.');
    output.result({ ...entry, bytes: Buffer.byteLength(content) }, null);
  });
}

/** Writes the account's clipboard to standard output, or into the one of this computer. */
export async function paste(context: Context, { system }: { system?: boolean }) {
  const { output, signal } = context;
  await context.withClient(async (baton) => {
    const entry = await baton.clipboard.get({ signal });
    if (entry.updated_at === null) throw new CliError('The clipboard is empty.', { code: 'empty' });
    if (system) await clipboard.write(entry.content);
    if (output.isJson) return output.result(entry, null);
    // A file or a pipe gets what was copied, to the byte.
    if (!system) process.stdout.write(process.stdout.isTTY ? plain(entry.content) : entry.content);
  });
}

/** Sends a short text to a device, or to all others with `*`. `-` is standard input. */
export async function message(context: Context, to: string, words: readonly string[]) {
  const { output, signal } = context;
  const given = words.join(' ');
  const isInput = given === '-' || given === '';
  const text = isInput ? await readInput(MESSAGE_BYTES, 'A message') : given;
  if (!isInput) checkText(text, 'The message');
  await context.withClient(async (baton) => {
    const target = to === '*' ? '*' : { device_id: (await deviceNamed(baton, to, signal)).device_id };
    const sent = await baton.messages.send(target, text, { signal });
    const lines = sent.to.map(({ name, online, pushed, error }) => {
      const how = error ?? (online ? 'connected' : pushed ? 'notified' : 'kept until it comes');
      return `${oneLine(name)}: ${how}`;
    });
    output.result(sent, lines.join('\n'));
  });
}

const lineOf = ({ from_name: from, content, created_at: at }: Message): string =>
  quoted(`${colours.dim(new Date(at).toLocaleTimeString())} ${colours.bold(deviceNameOf(from))}: `, content);

/** Shows what waits and takes it, oldest first; with `keep` it stays. With `follow` whatever comes too. */
export async function inbox(context: Context, { keep, follow }: { keep?: boolean; follow?: boolean }) {
  const { output, signal } = context;
  const show = (each: Message) => output.result(each, lineOf(each));
  await context.withClient(async (baton) => {
    if (follow) {
      baton.messages.receive(show);
      baton.start();
      return await untilOver(context, baton);
    }
    const waiting = await baton.messages.list({ signal });
    for (const each of waiting) show(each);
    if (!keep && waiting.length > 0) {
      await baton.messages.acknowledge(
        waiting.map((each) => each.message_id),
        { signal },
      );
    }
    if (waiting.length === 0) output.note('No messages.');
  });
}

/** Every event of the account as a line, until it is interrupted. */
export async function watch(context: Context) {
  const { output } = context;
  await context.withClient(async (baton) => {
    baton.on('state', (state) => output.note(colours.dim(state)));
    baton.on('event', ({ name, data, id }) => {
      const head = `${colours.dim(new Date().toLocaleTimeString())} ${colours.bold(name)} `;
      output.result({ event: name, data, id }, quoted(head, oneLine(JSON.stringify(data))));
    });
    baton.start();
    return await untilOver(context, baton);
  });
}
