import type { IncomingMessage } from 'node:http';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import { Downloads } from './download/downloads.ts';
import type { Answer } from './download/receiver.ts';
import { FairScheduler } from './fair-scheduler.ts';
import { Generations, type RelayTransfers } from './generations.ts';
import type { ByteRange } from './headers.ts';
import { Notifier } from './notifier.ts';
import { Quota } from './quota.ts';
import type { Asked } from './relay-request.ts';
import { Requests } from './requests.ts';
import type { RelayStore } from './store.ts';
import { type Progress, Uploads } from './upload/uploads.ts';

interface RelayParts {
  store: RelayStore;
  transfers: RelayTransfers;
  metrics: Metrics;
  windowBytes: number;
  stallMs: number;
  /** With more than this share of its memory in use the store takes no new uploads. */
  memoryPercent: number;
  /** The channel of this replica, as it is now. */
  channel: () => string;
  publish: (channel: string, payload: string) => Promise<unknown>;
  onFailure: (task: string, error: unknown) => void;
}

/** Bytes between two devices of an account, when no path between them opens. Either side may be on any replica. */
export class Relay {
  readonly #store: RelayStore;
  readonly #transfers: RelayTransfers;
  readonly #notifier: Notifier;
  readonly #quota: Quota;
  readonly #generations: Generations;
  readonly #uploads: Uploads;
  readonly #downloads: Downloads;
  readonly #scheduler = new FairScheduler();
  readonly requests: Requests;

  constructor(parts: RelayParts) {
    const { store, transfers, metrics, channel, publish } = parts;
    const requests = new Requests(metrics);
    const notifier = new Notifier({ channel, publish, onNotified: (name) => requests.notified(name) });
    const quota = new Quota({ store, notifier, memoryPercent: parts.memoryPercent });
    const generations = new Generations({ ...parts, notifier, quota });
    const shared = { ...parts, requests, notifier, quota, generations, scheduler: this.#scheduler };
    this.#uploads = new Uploads(shared);
    this.#downloads = new Downloads(shared);
    this.#store = store;
    this.#transfers = transfers;
    this.#notifier = notifier;
    this.#quota = quota;
    this.#generations = generations;
    this.requests = requests;
  }

  /** An event goes to streams of this replica: relays make way where such come often. Those of transfers do not count. */
  eventPasses(name: string): void {
    if (!name.startsWith('transfer:')) this.#scheduler.eventPasses();
  }

  /** How far an upload got, for its sender. Throws `upload_gone` for a generation that is over. */
  progress(asked: Asked, generation: number): Promise<Progress> {
    return this.#uploads.progress(asked, generation);
  }

  /** Takes the body of a request; resolves to how far the upload is then. */
  append(asked: Asked, generation: number, req: IncomingMessage): Promise<Progress> {
    return this.#uploads.append(asked, generation, req);
  }

  /** What has to be known before a download begins. */
  async readable(asked: Asked): Promise<RelayedFile> {
    this.requests.checkOpen();
    return this.#generations.known(asked, 'receiver');
  }

  /** Writes a part of a file until it is all there. Throws only before the headers were written. */
  async download(asked: Asked, wanted: { known: RelayedFile; range: ByteRange }, answer: Answer): Promise<void> {
    if (wanted.range.start < wanted.range.stop) return this.#downloads.run(asked, wanted, answer);
    answer.begin();
    answer.res.end();
  }

  /** The receiver has stored the file up to here. */
  async ack(asked: Asked, received: number): Promise<void> {
    const { asker, file } = asked;
    const { generation, size } = await this.#generations.known(asked, 'receiver');
    if (generation === null) return;
    const position = Math.min(received, size);
    const { notify } = await this.#store.acknowledge(file, generation, position);
    this.#notifier.notify(notify, file);
    await this.#transfers.acknowledged(asker, file, position);
    if (position === size) await this.#generations.delivered(file, generation, size);
  }

  /** Where the uploads of a transfer are; without those of which there is nothing. */
  async offsets(transferId: string, generations: ReadonlyMap<number, number>): Promise<Map<number, number>> {
    const holder = this.#notifier.newHolder();
    const found = await Promise.all(
      [...generations].map(async ([index, generation]) => {
        const claim = { file: { transferId, index }, holder };
        return [index, await this.#store.open(claim, generation, { side: '-', from: 0 })] as const;
      }),
    );
    return new Map(found.flatMap(([index, at]) => (at.found === 'here' ? [[index, at.extent.end] as const] : [])));
  }

  /** A transfer has ended: its bytes go, and so do the requests for them, wherever they run. May be repeated. */
  async drop(account: string, transferId: string, generations: ReadonlyMap<number, number>): Promise<void> {
    const notifier = this.#notifier;
    const files = [...generations].map(([index, generation]) => ({ file: { account, transferId, index }, generation }));
    const released = this.#quota.release(
      account,
      files.map(({ file }) => file),
    );
    // Also requests that wait for a file that has not begun.
    const notified = this.#store.readers(account, transferId).then((readers) => {
      for (const { file, channel } of readers) notifier.notify(channel, file);
    });
    const drops = files.map(async ({ file, generation }) =>
      notifier.notifyAll(await this.#store.drop(file, generation), file),
    );
    // What fails keeps nothing else from being done.
    const failed = (await Promise.allSettled([released, notified, ...drops])).find(
      (done) => done.status === 'rejected',
    );
    if (failed) throw failed.reason;
  }
}
