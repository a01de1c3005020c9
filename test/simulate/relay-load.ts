import { createHash } from 'node:crypto';
import type { Violation } from '../chaos/checker/violation.ts';
import { type Client, makeClient } from '../../shared/client/http/client.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import type { Fleet } from './fleet.ts';
import { drawTroubles, type RelayTroubles, type Troubles } from './relay-troubles.ts';

const FILE_BYTES = [1_000, 700_000] as const;
const PIECE_BYTES = [1_000, 200_000] as const;

/** The pause after a failure. */
const AGAIN_MS = 200;

/** The service records what a download has delivered soon after the last byte. */
const RECORDED_AFTER_MS = 1_000;

/**
 * A file that has not arrived by then never does. The time covers several waits of a receiver for its sender, half a
 * minute each.
 */
const ARRIVES_WITHIN_MS = 120_000;

interface RelayLoadParts {
  fleet: Fleet;
  random: Random;
  now: () => number;
  troubles: RelayTroubles;
  /** Takes files that did not arrive whole. */
  violations: Violation[];
}

/** A device without a stream. */
interface Party {
  id: string;
  headers: Record<string, string>;
  client: Client;
}

interface RelayedFile {
  sender: Party;
  receiver: Party;
  bytes: Buffer;
  transferId: string;
  /** The time at which it counts as lost. */
  untilMs: number;
  troubles: Troubles;
  /** The offset up to which the receiver has bytes that came on another path. */
  asideUpTo: number;
  isReceived: boolean;
}

/** An account for these files alone. Nothing checks what else its devices were told. */
const ACCOUNT = 'files';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Relays files in pieces over any replica. Each piece starts where the relay stands, until everything has arrived. */
export class RelayLoad {
  readonly #parts: RelayLoadParts;

  constructor(parts: RelayLoadParts) {
    this.#parts = parts;
  }

  #partyOf(name: string): Party {
    const { fleet, random } = this.#parts;
    const id = `${ACCOUNT}-${name}-device`;
    const headers = { 'X-Dev-User': ACCOUNT, 'X-Dev-Device': id, 'X-Dev-Name': name, 'X-Dev-Type': 'linux' };
    const baseUrl = () => fleet.choose().process.url;
    return { id, headers, client: makeClient({ baseUrl, headers, retries: 0, random: random.next }) };
  }

  /** Relays a file with this number. Resolves when it has arrived, or counts as lost, which it reports. */
  async relay(number: number): Promise<void> {
    const { random, now } = this.#parts;
    const [sender, receiver] = [this.#partyOf(`sender${number}`), this.#partyOf(`receiver${number}`)];
    const bytes = Buffer.alloc(Math.floor(random.between(...FILE_BYTES)));
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = (i * 31 + (i >> 8) * 17) & 0xff;
    const troubles = drawTroubles(random.fork(`troubles${number}`), bytes.length);
    const untilMs = now() + ARRIVES_WITHIN_MS;
    const file = { sender, receiver, bytes, transferId: '', untilMs, troubles, asideUpTo: 0, isReceived: false };
    // Its first request makes the device known.
    await this.#until(file, () => receiver.client.call('listDevices'));
    const body = { to_device_id: receiver.id, files: [{ name: 'file.bin', size: bytes.length }] };
    const idempotencyKey = `relay-${sender.id}`;
    const answer = await this.#until(file, () => sender.client.call('initTransfer', { body, idempotencyKey }));
    if (answer === null) return this.#lost(file, 'could not be offered');
    file.transferId = answer.body.transfer.transfer_id;
    const params = { transfer_id: file.transferId };
    await this.#until(file, () => sender.client.call('relayTransfer', { params }));
    await this.#until(file, () => receiver.client.call('acceptTransfer', { params }));
    this.#parts.troubles.happen(file.transferId, troubles);
    const [received] = await Promise.all([this.#receive(file), this.#send(file), this.#sendAgain(file)]);
    if (received === null) this.#lost(file, `had not arrived after ${ARRIVES_WITHIN_MS} ms`);
    else if (sha256(received) !== sha256(bytes)) this.#lost(file, 'arrived with other bytes');
    else if (!(await this.#isCompleted(file))) this.#lost(file, 'has arrived, and its transfer does not end');
  }

  /** Tries until it works. Resolves to null when the time of the file is over. */
  async #until<T>({ untilMs }: RelayedFile, act: () => Promise<T | null>): Promise<T | null> {
    const { now } = this.#parts;
    while (now() < untilMs) {
      const done = await act().catch(() => null);
      if (done !== null) return done;
      await wait(AGAIN_MS);
    }
    return null;
  }

  async #isCompleted(file: RelayedFile): Promise<boolean> {
    const { client } = file.receiver;
    const params = { transfer_id: file.transferId };
    const done = await this.#until(file, async () => {
      await client.call('completeTransfer', { params });
      const { body } = await client.call('getTransfer', { params });
      return body.transfer.state === 'DONE' ? true : null;
    });
    return done === true;
  }

  #lost({ receiver, transferId, bytes }: RelayedFile, what: string): void {
    const says = `the file of ${bytes.length} bytes of transfer ${transferId} ${what}`;
    this.#parts.violations.push({ check: 'loss', at: this.#parts.now(), account: ACCOUNT, device: receiver.id, says });
  }

  #urlOf({ transferId }: RelayedFile, generation = 0): string {
    return `${this.#parts.fleet.choose().process.url}/api/relay/${transferId}/0/${generation}`;
  }

  /** The application of the sender starts a second time and sends the same file. */
  async #sendAgain(file: RelayedFile): Promise<void> {
    const { secondSenderMs } = file.troubles;
    if (secondSenderMs === null) return;
    await wait(secondSenderMs);
    await this.#send(file);
  }

  async #send(file: RelayedFile): Promise<void> {
    const { random } = this.#parts;
    const { sender, bytes } = file;
    let generation = 0;
    await this.#until(file, async () => {
      if (file.isReceived) return true;
      const url = this.#urlOf(file, generation);
      const head = await fetch(url, { method: 'HEAD', headers: sender.headers });
      if (head.status === 410) {
        const params = { transfer_id: file.transferId };
        const { body } = await sender.client.call('getTransfer', { params });
        generation = Number(/(\d+)$/.exec(body.transfer.uploads?.[0]?.upload_url ?? '')?.[1] ?? generation);
        return null;
      }
      // The relay took all of it, and the transfer has ended.
      if (head.status === 404) return true;
      const offset = Number(head.headers.get('upload-offset') ?? Number.NaN);
      if (!head.ok || Number.isNaN(offset)) return null;
      // The file is complete, but the store may still lose it.
      if (head.headers.get('upload-complete') === '?1') return null;
      const end = Math.min(bytes.length, offset + Math.floor(random.between(...PIECE_BYTES)));
      const headers = {
        ...sender.headers,
        'Content-Type': 'application/partial-upload',
        'Upload-Offset': String(offset),
        'Upload-Complete': end === bytes.length ? '?1' : '?0',
      };
      await fetch(url, { method: 'PATCH', headers, body: new Uint8Array(bytes.subarray(offset, end)) });
      return null;
    });
  }

  async #receive(file: RelayedFile): Promise<Buffer | null> {
    const { bytes, troubles } = file;
    void this.#getAside(file);
    if (troubles.endFirst !== null) await this.#receiveEnd(file, troubles.endFirst);
    let have = Buffer.alloc(0);
    return this.#until(file, async () => {
      have = await this.#read(file, have);
      if (file.asideUpTo > have.length) have = Buffer.from(bytes.subarray(0, file.asideUpTo));
      file.isReceived = have.length >= bytes.length;
      return file.isReceived ? have : null;
    });
  }

  /** Reads on from the end of what the receiver has, as far as the response comes. Resolves to all of it. */
  async #read(file: RelayedFile, before: Buffer): Promise<Buffer<ArrayBuffer>> {
    let have = Buffer.from(before);
    const headers = { ...file.receiver.headers, Range: `bytes=${have.length}-` };
    const answer = await fetch(this.#urlOf(file), { headers });
    if (answer.status !== 206 && answer.status !== 200) return have;
    if (answer.status === 200) have = Buffer.alloc(0);
    try {
      for await (const chunk of answer.body ?? []) have = Buffer.concat([have, chunk]);
    } catch {
      // If a body is cut short, the part that came is kept.
    }
    return have;
  }

  /** Reads a range up to the end before anything else. That must not make the file count as delivered. */
  async #receiveEnd(file: RelayedFile, from: number): Promise<void> {
    const { receiver, bytes, transferId, troubles } = file;
    const read = await this.#until(file, async () => {
      const answer = await fetch(this.#urlOf(file), { headers: { ...receiver.headers, Range: `bytes=${from}-` } });
      return answer.status === 206 ? Buffer.from(await answer.arrayBuffer()) : null;
    });
    if (read === null) return;
    if (sha256(read) !== sha256(bytes.subarray(from))) this.#lost(file, `has other bytes from ${from} on`);
    // If the store forgot the file, it also forgot that its beginning was left out.
    const { forgetsMs, aside } = troubles;
    if (forgetsMs !== null || (aside !== null && aside.upTo >= from)) return;
    await wait(RECORDED_AFTER_MS);
    if (await this.#parts.troubles.isDelivered(transferId, bytes.length))
      this.#lost(file, `counts as delivered, and its receiver has only the bytes from ${from} on`);
  }

  /** Some bytes come from device to device while a request reads the same file. The receiver tells the relay so. */
  async #getAside(file: RelayedFile): Promise<void> {
    const { aside } = file.troubles;
    if (aside === null) return;
    await wait(aside.atMs);
    const params = { transfer_id: file.transferId, index: 0, generation: 0 };
    const body = { received_bytes: aside.upTo };
    const isTold = await file.receiver.client.call('ackDownload', { params, body }).catch(() => null);
    if (isTold !== null) file.asideUpTo = aside.upTo;
  }
}
