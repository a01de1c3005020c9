import clipboard from 'clipboardy';
import type { Message } from '../../../shared/client/index.ts';
import { readInput } from '../ask.ts';
import { type Context, deviceNamed, untilOver } from '../context.ts';
import { CliError } from '../failure.ts';
import { colours, oneLine, plain } from '../output.ts';

const CLIPBOARD_BYTES = 65_536;
const MESSAGE_BYTES = 4_096;

/** What a terminal shows is made harmless; what goes into a file or a pipe is what was sent. */
const shown = (text: string): string => (process.stdout.isTTY ? plain(text) : text);

/** Sets the account's clipboard from standard input, or from the one of this computer. */
export async function copy(context: Context, { system }: { system?: boolean }) {
  const { output, signal } = context;
  const text = system ? await clipboard.read() : await readInput(CLIPBOARD_BYTES, 'The clipboard');
  await context.withClient(async (baton) => {
    const { content: _, ...entry } = await baton.clipboard.set(text, { signal });
    output.result({ ...entry, bytes: Buffer.byteLength(text) }, null);
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
    if (!system) process.stdout.write(shown(entry.content));
  });
}

/** Sends a short text to a device, or to all others with `*`. `-` is standard input. */
export async function message(context: Context, to: string, words: readonly string[]) {
  const { output, signal } = context;
  const given = words.join(' ');
  const text = given === '-' || given === '' ? await readInput(MESSAGE_BYTES, 'A message') : given;
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
  `${colours.dim(new Date(at).toLocaleTimeString())} ${colours.bold(oneLine(from))}: ${shown(content)}`;

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
      const text = `${colours.dim(new Date().toLocaleTimeString())} ${colours.bold(name)} ${oneLine(JSON.stringify(data))}`;
      output.result({ event: name, data, id }, text);
    });
    baton.start();
    return await untilOver(context, baton);
  });
}
