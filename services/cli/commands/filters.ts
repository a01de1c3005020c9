import { BatonClientError } from '../../../shared/client/index.ts';
import { readInput } from '../ask.ts';
import { comparedWith } from '../away.ts';
import { type Context, deviceIn, deviceNamed } from '../context.ts';
import { CliError, EXIT } from '../failure.ts';
import { deviceNameOf, plain } from '../output.ts';
import { keyedOnly, LEFT, LOCK } from '../sealing.ts';

const MESSAGE_BYTES = 4_096;
/** Enough for the sealed text of the longest message, with the line breaks of a program that wraps lines. */
const SEALED_CHARACTERS = 8_192;

/** Seals standard input as the `sealed` of a message, for a script that carries it to another device itself. */
export async function seal(context: Context, { to }: { to?: string }): Promise<void> {
  const { output, signal } = context;
  const text = await readInput(MESSAGE_BYTES, 'A sealed text', signal);
  await context.withClient(async (baton, url) => {
    const keyed = await keyedOnly(context, url);
    const devices = await baton.devices.list({ signal });
    const receiver = to === undefined ? '*' : deviceIn(devices, to).device_id;
    const { sealing, keyring } = await comparedWith(context, keyed, devices);
    const sealed = await sealing.texts.seal(keyring, { to: receiver, text });
    output.result({ to: receiver, sealed }, sealed);
  });
}

/** Opens the `sealed` of a message from standard input, and writes exactly the text that was sealed. */
export async function open(context: Context, { from }: { from?: string }): Promise<void> {
  const { output, signal } = context;
  const sealed = (await readInput(SEALED_CHARACTERS, 'What was sealed', signal)).replaceAll(/\s/g, '');
  await context.withClient(async (baton, url) => {
    const { sealing, keyring } = await keyedOnly(context, url);
    const sender = from === undefined ? undefined : (await deviceNamed(baton, from, signal)).device_id;
    const opened = await sealing.texts.unseal(keyring, sealed, sender).catch((error: unknown) => {
      if (!(error instanceof BatonClientError) || error.status !== null) throw error;
      throw new CliError(`${error.message}.`, { status: EXIT.refused, code: error.code });
    });
    const { device_id: id, kind, isRemoved } = opened.sender;
    const name = (await baton.devices.list({ signal })).find(({ device_id }) => device_id === id)?.name ?? id;
    const gone = isRemoved ? `, which ${LEFT}` : '';
    output.note(`${LOCK} Sealed by ${deviceNameOf(name)}${gone}, ${new Date(opened.t).toLocaleString()}.`);
    const { text: content, t: sealed_at } = opened;
    if (output.isJson)
      return output.result({ content, sealed: true, sealed_at, sender: { device_id: id, kind } }, null);
    // A file or a pipe gets exactly the sealed bytes.
    process.stdout.write(process.stdout.isTTY ? plain(content) : content);
  });
}
