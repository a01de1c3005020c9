import type { Violation } from '../chaos/checker/violation.ts';
import { HEARTBEAT_MS } from '../chaos/load/chaos-device.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import { type Client, makeClient } from '../../shared/client/http/client.ts';
import { makeStream, type Stream } from '../../shared/client/stream/stream.ts';
import type { Fleet } from './fleet.ts';

const ACCOUNT = 'direct';

/** How many signals each party sends the other, one after the other, and how far apart. */
const SIGNALS = 6;
const NEXT_WITHIN_MS = 800;

/** A signal is replayed for a minute. */
const ARRIVES_WITHIN_MS = 50_000;

const CHECK_EVERY_MS = 500;
const AGAIN_MS = 300;

/** A client waits up to half a minute for its next attempt. Here it waits less. */
const HASTE = 0.25;

interface SignalLoadParts {
  fleet: Fleet;
  random: Random;
  now: () => number;
  /** How far the clock of the store was set. A signal that seems older than a minute is not replayed. */
  skewMs: () => number;
  /** Takes signals that did not arrive as they should. */
  violations: Violation[];
}

/** A device with a stream, and the numbers of the signals that came to it. */
interface Party {
  id: string;
  client: Client;
  stream: Stream;
  received: number[];
  isOpen: boolean;
}

/**
 * The numbers of the signals that one device sent another. The accepted ones come with how far the clock was set then.
 */
interface Sent {
  all: number[];
  accepted: Map<number, number>;
}

/** Transfers that go from device to device. Both parties send signals, and a third device tries to send one too. */
export class SignalLoad {
  readonly #parts: SignalLoadParts;
  #signals = 0;

  constructor(parts: SignalLoadParts) {
    this.#parts = parts;
  }

  #partyOf(name: string): Party {
    const { fleet, random } = this.#parts;
    const id = `${ACCOUNT}-${name}-device`;
    const headers = { 'X-Dev-User': ACCOUNT, 'X-Dev-Device': id, 'X-Dev-Name': name, 'X-Dev-Type': 'linux' };
    const baseUrl = () => fleet.choose().process.url;
    const client = makeClient({ baseUrl, headers, retries: 0, random: random.next });
    const stream = makeStream({
      ...{ baseUrl, headers, heartbeatMs: HEARTBEAT_MS, random: () => random.next() * HASTE },
      fetch: (url, init) => globalThis.fetch(url, init),
      onEvent(event) {
        if (event.name === 'ready') party.isOpen = true;
        if (event.name === 'signal') party.received.push(Number(event.data.payload));
      },
    });
    const party: Party = { id, client, stream, received: [], isOpen: false };
    return party;
  }

  /** Passes the signals of one transfer. */
  async pass(number: number): Promise<void> {
    const { random } = this.#parts;
    const [sender, receiver, other] = ['from', 'to', 'other'].map((name) => this.#partyOf(`${name}${number}`)) as [
      Party,
      Party,
      Party,
    ];
    const all = [sender, receiver, other];
    for (const { stream } of all) stream.start();
    while (!all.every(({ isOpen }) => isOpen)) await wait(AGAIN_MS);
    const files = [{ name: 'file.bin', size: 1 }];
    const offer = () => sender.client.call('initTransfer', { body: { to_device_id: receiver.id, files } });
    let offered = await offer().catch(() => null);
    for (; offered === null; offered = await offer().catch(() => null)) await wait(AGAIN_MS);
    const transfer_id = offered.body.transfer.transfer_id;
    const sent = await Promise.all([
      this.#send(sender, receiver, transfer_id),
      this.#send(receiver, sender, transfer_id),
      this.#send(other, random.pick([sender, receiver]), transfer_id),
    ]);
    const [toReceiver, toSender, ofOther] = sent;
    await this.#judge(receiver, toReceiver);
    await this.#judge(sender, toSender);
    const strange = [
      ...ofOther.accepted.keys(),
      ...all.flatMap(({ received }) => received.filter((one) => ofOther.all.includes(one))),
    ];
    if (strange.length > 0) this.#violate(other, `${strange.length} signals of a device that is no party were taken`);
    if (other.received.length > 0) this.#violate(other, 'a device that is no party has signals of the transfer');
    await Promise.all(all.map(({ stream }) => stream.stop()));
  }

  /** Sends signals one after the other. Resolves to the numbers of all, and of those that were accepted, with the clock. */
  async #send(from: Party, to: Party, transfer_id: string): Promise<Sent> {
    const { random, skewMs } = this.#parts;
    const all: number[] = [];
    const accepted = new Map<number, number>();
    for (let i = 0; i < SIGNALS; i += 1) {
      await wait(random.between(0, NEXT_WITHIN_MS));
      this.#signals += 1;
      const payload = this.#signals;
      all.push(payload);
      const body = { to_device_id: to.id, transfer_id, kind: 'candidate' as const, payload };
      const answer = await from.client.call('sendSignal', { body }).catch(() => null);
      if (answer !== null) accepted.set(payload, skewMs());
    }
    return { all, accepted };
  }

  /** Accepted signals come, all signals come at most once, and they come in the order in which they were sent. */
  async #judge(party: Party, { all, accepted }: Sent): Promise<void> {
    const untilMs = this.#parts.now() + ARRIVES_WITHIN_MS;
    const isLate = (skewMs: number): boolean => skewMs !== this.#parts.skewMs();
    const missing = (): number[] =>
      [...accepted].flatMap(([one, skewMs]) => (party.received.includes(one) || isLate(skewMs) ? [] : [one]));
    while (missing().length > 0 && this.#parts.now() < untilMs) await wait(CHECK_EVERY_MS);
    const came = party.received.filter((one) => all.includes(one));
    if (missing().length > 0) this.#violate(party, `signals ${missing().join(', ')} were accepted and did not come`);
    if (came.some((one, i) => i > 0 && one <= (came[i - 1] ?? 0)))
      this.#violate(party, `signals came in the order ${came.join(', ')}`);
  }

  #violate({ id }: Party, says: string): void {
    this.#parts.violations.push({ check: 'order', at: this.#parts.now(), account: ACCOUNT, device: id, says });
  }
}
