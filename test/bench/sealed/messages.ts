import type { BatonClient, Device } from '../../../shared/client/index.ts';
import type { Keyring } from '../../../shared/client/sealed.ts';
import type { Sealing } from '../../../shared/client/sealing.ts';
import type { KeyedDevice } from '../../browser/keyed-device.ts';
import { type KeyedSite, startKeyedSite } from '../../browser/keyed-site.ts';
import { type Kind, letInAs } from '../../browser/measured-sign-in.ts';
import type { Compared } from './compared.ts';

const TEXT = 'On the way, ten minutes late. '.repeat(10);

/** One end of a conversation. */
interface End {
  /** Sends the text, and resolves when the other end has taken it. */
  send(text: string): Promise<unknown>;
  /** Takes the next text. */
  next(): Promise<string>;
  close(): Promise<void>;
}

/** Makes a queue of texts that gives them out in order, one at a time. */
function makeInbox() {
  const waiting: string[] = [];
  let take: ((text: string) => void) | null = null;
  return {
    put(text: string): void {
      if (take === null) waiting.push(text);
      else take(text);
      take = null;
    },
    next: (): Promise<string> =>
      new Promise((resolve) => {
        const text = waiting.shift();
        if (text === undefined) take = resolve;
        else resolve(text);
      }),
  };
}

interface EndParts {
  client: BatonClient;
  devices: readonly Device[];
  to: string;
  /** Null: nothing is sealed. */
  keys: { sealing: Sealing; keyring: Keyring } | null;
}

/** Makes an end that reads a message as a program with keys does: it opens the message, and remembers that it did. */
async function makeEnd({ client, devices, to, keys }: EndParts): Promise<End> {
  const inbox = makeInbox();
  client.messages.receive(async (message) => {
    if (keys === null) return inbox.put(message.content);
    const { texts } = keys.sealing;
    const received = await texts.open(keys.keyring, message);
    if (received.kind !== 'opened') throw new Error(`A message is ${received.kind}`);
    await texts.shown(keys.keyring, message);
    inbox.put(received.text);
  });
  client.start();
  await client.untilOnline();
  return {
    next: inbox.next,
    close: () => client.close(),
    send: (text) =>
      keys === null
        ? client.messages.send({ device_id: to }, text)
        : keys.sealing.texts.send(keys.keyring, { to, text, devices }),
  };
}

async function makeEnds(site: KeyedSite, kind: Kind): Promise<[End, End]> {
  const laptop = await (kind === 'sealed' ? site.account() : site.plainAccount());
  const phone = site.device();
  const { link, digits } = await phone.askToJoin('Phone');
  await letInAs(kind, laptop, link);
  await digits;
  const devices = await laptop.client.devices.list();
  const idOf = (name: string) => devices.find((each) => each.name === name)?.device_id ?? '';
  const keysOf = async (device: KeyedDevice) =>
    kind === 'sealed' ? { sealing: device.sealing(), keyring: await device.ring() } : null;
  return [
    await makeEnd({ client: laptop.client, devices, to: idOf('Phone'), keys: await keysOf(laptop) }),
    await makeEnd({ client: phone.client, devices, to: idOf('Laptop'), keys: await keysOf(phone) }),
  ];
}

/** Sends a message there and one back, by the client library in one process, through a real replica. */
export async function startMessages(trips: number): Promise<Compared<'trips'>> {
  const site = await startKeyedSite();
  const ends = { sealed: await makeEnds(site, 'sealed'), plain: await makeEnds(site, 'plain') };
  return {
    async measure(kind) {
      const [laptop, phone] = ends[kind];
      const startedAt = performance.now();
      for (let trip = 0; trip < trips; trip += 1) {
        const text = `${trip} ${TEXT}`;
        const [there] = await Promise.all([phone.next(), laptop.send(text)]);
        const [back] = await Promise.all([laptop.next(), phone.send(there)]);
        expect(back).toBe(text);
      }
      return { trips: trips / ((performance.now() - startedAt) / 1_000) };
    },
    async stop() {
      await Promise.all(Object.values(ends).flatMap((both) => both.map((end) => end.close())));
      await site.stop();
    },
  };
}
