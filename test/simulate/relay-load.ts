import { createHash } from 'node:crypto';
import type { Violation } from '../chaos/checker/violation.ts';
import { type Client, makeClient } from '../../shared/client/http/client.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import type { Fleet } from './fleet.ts';

const FILE_BYTES = [1_000, 700_000] as const;
const PIECE_BYTES = [1_000, 200_000] as const;

/** After a failure. */
const AGAIN_MS = 200;

/** A file that has not arrived by then never does: several waits of a receiver for its sender, half a minute each. */
const ARRIVES_WITHIN_MS = 120_000;

interface RelayLoadParts {
  fleet: Fleet;
  random: Random;
  now: () => number;
  /** Where files that did not arrive whole are written down. */
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
  /** When it counts as lost. */
  untilMs: number;
}

/** An account of their own: what else its devices were told is nobody's question. */
const ACCOUNT = 'files';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Files that go by the relay: pieces over any replica, each repeated from where the relay stands, until all has come. */
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

  /** Relays a file of this number. Resolves when it has arrived or counts as lost, and says so. */
  async relay(number: number): Promise<void> {
    const { random, now } = this.#parts;
    const [sender, receiver] = [this.#partyOf(`sender${number}`), this.#partyOf(`receiver${number}`)];
    const bytes = Buffer.alloc(Math.floor(random.between(...FILE_BYTES)));
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = (i * 31 + (i >> 8) * 17) & 0xff;
    const file = { sender, receiver, bytes, transferId: '', untilMs: now() + ARRIVES_WITHIN_MS };
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
    const [, received] = await Promise.all([this.#send(file), this.#receive(file)]);
    if (received === null) this.#lost(file, `had not arrived after ${ARRIVES_WITHIN_MS} ms`);
    else if (sha256(received) !== sha256(bytes)) this.#lost(file, 'arrived with other bytes');
    else if (!(await this.#isCompleted(file))) this.#lost(file, 'has arrived, and its transfer does not end');
  }

  /** Tries until it works; resolves to null when the time of the file is over. */
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

  async #send(file: RelayedFile): Promise<void> {
    const { random } = this.#parts;
    const { sender, bytes } = file;
    let generation = 0;
    await this.#until(file, async () => {
      const url = this.#urlOf(file, generation);
      const head = await fetch(url, { method: 'HEAD', headers: sender.headers });
      if (head.status === 410) {
        const params = { transfer_id: file.transferId };
        const { body } = await sender.client.call('getTransfer', { params });
        generation = Number(/(\d+)$/.exec(body.transfer.uploads?.[0]?.upload_url ?? '')?.[1] ?? generation);
        return null;
      }
      // All of it was taken, and the transfer has ended.
      if (head.status === 404) return true;
      const offset = Number(head.headers.get('upload-offset') ?? Number.NaN);
      if (!head.ok || Number.isNaN(offset)) return null;
      if (head.headers.get('upload-complete') === '?1') return true;
      const end = Math.min(bytes.length, offset + Math.floor(random.between(...PIECE_BYTES)));
      const headers = {
        ...sender.headers,
        'Content-Type': 'application/partial-upload',
        'Upload-Offset': String(offset),
        'Upload-Complete': end === bytes.length ? '?1' : '?0',
      };
      const answer = await fetch(url, { method: 'PATCH', headers, body: new Uint8Array(bytes.subarray(offset, end)) });
      return answer.ok && end === bytes.length ? true : null;
    });
  }

  async #receive(file: RelayedFile): Promise<Buffer | null> {
    const { receiver, bytes } = file;
    let have = Buffer.alloc(0);
    return this.#until(file, async () => {
      const headers = { ...receiver.headers, Range: `bytes=${have.length}-` };
      const answer = await fetch(this.#urlOf(file), { headers });
      if (answer.status !== 206 && answer.status !== 200) return null;
      if (answer.status === 200) have = Buffer.alloc(0);
      // A body that is cut short is kept as far as it came.
      for await (const chunk of answer.body ?? []) have = Buffer.concat([have, chunk]);
      return have.length >= bytes.length ? have : null;
    });
  }
}
