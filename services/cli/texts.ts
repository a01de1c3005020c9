import type { BatonClient, Message } from '../../shared/client/index.ts';
import { comparedWith } from './away.ts';
import type { Context } from './context.ts';
import { colours, deviceNameOf, quoted } from './output.ts';
import { expectsEncryption, type Keyed, keyedAt, LEFT, LOCK, NOT_ENCRYPTED } from './sealing.ts';

/** A received message as it is shown. */
interface Shown {
  /** The line of JSON: `content` is null if it is not shown, and `problem` gives the reason. */
  readonly json: object;
  readonly line: string;
  /** False: the message stays where it is. */
  readonly isTaken: boolean;
}

type Received = Awaited<ReturnType<Keyed['sealing']['texts']['open']>>;

const withoutPoint = (sentence: string): string => sentence.replace(/\.$/, '');

const timeOf = ({ created_at: at }: Message): string => colours.dim(new Date(at).toLocaleTimeString());
const nameOf = ({ from_name: name }: Message): string => colours.bold(deviceNameOf(name));

function withheld(message: Message, sealed: boolean, code: string, said: string, isTaken: boolean): Shown {
  const { sealed: _, ...rest } = message;
  const stays = isTaken ? '' : ' It stays in the inbox.';
  return {
    json: { ...rest, content: null, sealed, problem: { code, message: said } },
    line: `${timeOf(message)} ${nameOf(message)}: (not shown) ${said}.${stays}`,
    isTaken,
  };
}

function shownOf(
  message: Message,
  received: Exclude<Received, { kind: 'again' }>,
  isExpected: boolean,
  plain: boolean,
): Shown {
  const { sealed: _, ...rest } = message;
  if (received.kind === 'waits' || received.kind === 'refused') {
    const { code, message: said } = received.problem;
    return withheld(message, true, code, withoutPoint(said), received.kind === 'refused');
  }
  if (received.kind === 'opened') {
    const {
      text,
      sender: { device_id, kind, isRemoved },
    } = received;
    const gone = isRemoved ? ` (${LEFT})` : '';
    return {
      json: { ...rest, content: text, sealed: true, sender: { device_id, kind, removed: isRemoved } },
      line: quoted(`${timeOf(message)} ${LOCK} ${nameOf(message)}${gone}: `, text),
      isTaken: true,
    };
  }
  if (isExpected && !plain) {
    const said = 'This is not encrypted, so the service could have written it. `--plain` shows it';
    return withheld(message, false, 'not_encrypted', said, false);
  }
  const mark = isExpected ? ` (${NOT_ENCRYPTED})` : '';
  const line = quoted(`${timeOf(message)} ${nameOf(message)}${mark}: `, received.text);
  return { json: { ...rest, content: received.text, sealed: false }, line, isTaken: true };
}

/** Opens and shows the messages of a device, with or without keys. */
export async function makeReader(context: Context, url: string, plain: boolean) {
  const { output } = context;
  let keyed = await keyedAt(context, url);
  let isStale = false;

  async function open(message: Message): Promise<Received> {
    if (keyed === null) {
      if (message.sealed === undefined) return { kind: 'plain', text: message.content };
      const { sealedError } = await import('../../shared/client/sealed.ts');
      return { kind: 'waits', problem: sealedError('unkeyed') };
    }
    return keyed.sealing.texts.open(keyed.keyring, message);
  }

  async function refresh(): Promise<void> {
    isStale = false;
    keyed = await keyedAt(context, url);
  }

  return {
    /** Called when the ring may have changed: it is fetched before the next message is opened. */
    onKeys(): void {
      isStale = true;
    },
    /** Shows a message; true if it is to be acknowledged. With `keep` it will be shown again. */
    async show(message: Message, keep: boolean): Promise<boolean> {
      if (isStale) await refresh();
      let received = await open(message);
      if (received.kind === 'waits' && received.problem.code === 'unknown_key') {
        await refresh();
        received = await open(message);
      }
      if (received.kind === 'again') return true;
      const isExpected =
        keyed !== null || (received.kind === 'plain' && !plain && (await expectsEncryption(context, url, keyed)));
      const shown = shownOf(message, received, isExpected, plain);
      output.result(shown.json, shown.line);
      if (received.kind === 'opened' && keyed !== null && !keep)
        await keyed.sealing.texts.shown(keyed.keyring, message);
      return shown.isTaken;
    },
  };
}

/** Sends a text as a device with keys. Reports for each receiver whether the service could read it. */
export async function sendSealed(
  { output, signal }: Context,
  baton: BatonClient,
  keyed: Keyed,
  { to, text, plain }: { to: string; text: string; plain: boolean },
): Promise<void> {
  const devices = await baton.devices.list({ signal });
  const { sealing, keyring } = await comparedWith({ output }, keyed, devices);
  const {
    messageIds,
    to: targets,
    unkeyed,
  } = await sealing.texts.send(keyring, { to, text, devices, plain }, { signal });
  const lines = targets.map(({ name, online, pushed, error, sealed }) => {
    const how = error ?? (online ? 'connected' : pushed ? 'notified' : 'kept until it comes');
    return `${sealed ? `${LOCK} ` : ''}${deviceNameOf(name)}: ${how}${sealed ? '' : ' (not encrypted: the service can read it)'}`;
  });
  const left = unkeyed.map(
    ({ name }) =>
      `${deviceNameOf(name)}: not sent, because it has no keys. \`--plain\` sends it so that the service can read it`,
  );
  const sealed = targets.every((each) => each.sealed);
  const result = {
    message_id: messageIds[0] ?? null,
    message_ids: messageIds,
    to: targets,
    not_sent_to: unkeyed.map(({ device_id, name }) => ({ device_id, name })),
    sealed,
  };
  output.result(result, [...lines, ...left].join('\n'));
}
