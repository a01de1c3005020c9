import { BatonError } from '../../../shared/contract/errors.ts';
import type { RelayedFile } from '../transfers/transfers.ts';
import { Downloads } from './download/downloads.ts';
import type { Answer } from './download/receiver.ts';
import { FairScheduler } from './pacing/fair-scheduler.ts';
import { Generations } from './generations.ts';
import type { ByteRange } from './requests/headers.ts';
import { makeNotifier, type NotifierParts } from './wakeup/notifier.ts';
import { makeQuota } from './quota.ts';
import type { RelayParts, RelaySettings } from './relay-parts.ts';
import type { Asked } from './requests/relay-request.ts';
import { Requests } from './requests/requests.ts';
import { Uploads } from './upload/uploads.ts';

interface RelayOptions extends RelaySettings, Omit<NotifierParts, 'onNotified'> {
  /** Share of its memory in use, in percent, above which the store takes no new uploads. */
  memoryPercent: number;
}

/** Passes bytes between two devices of an account that find no direct path. Either side may be on any replica. */
export class Relay {
  readonly #parts: RelayParts;
  readonly #downloads: Downloads;
  readonly uploads: Uploads;
  readonly requests: Requests;

  constructor({ memoryPercent, channel, publish, ...settings }: RelayOptions) {
    const requests = new Requests(settings.metrics);
    const notifier = makeNotifier({ channel, publish, onNotified: (name) => requests.notified(name) });
    const quota = makeQuota({ store: settings.store, notifier, memoryPercent });
    const generations = new Generations({ ...settings, notifier, quota });
    this.#parts = { ...settings, requests, notifier, quota, generations, scheduler: new FairScheduler() };
    this.uploads = new Uploads(this.#parts);
    this.#downloads = new Downloads(this.#parts);
    this.requests = requests;
  }

  /**
   * Notes an event for streams of this replica: relays make way when events come often. Events of transfers do not
   * count.
   */
  eventPasses(name: string): void {
    if (!name.startsWith('transfer:')) this.#parts.scheduler.eventPasses();
  }

  /** Returns the record that a download needs before it begins. */
  async readable(asked: Asked): Promise<RelayedFile> {
    this.requests.checkOpen();
    return this.#parts.generations.known(asked, 'receiver');
  }

  /** Writes a part of a file to its end. Throws only before the headers were written. */
  async download(asked: Asked, wanted: { known: RelayedFile; range: ByteRange }, answer: Answer): Promise<void> {
    if (wanted.range.start < wanted.range.stop) return this.#downloads.run(asked, wanted, answer);
    answer.begin();
    answer.res.end();
  }

  /**
   * Records that the receiver has stored the file up to here. Bytes that were never sent here came on another path.
   */
  async ack(asked: Asked, received: number): Promise<void> {
    const { store, transfers, generations, notifier } = this.#parts;
    const { asker, file } = asked;
    const known = await generations.known(asked, 'receiver');
    const { size } = known;
    if (received > size) {
      const flaw = { path: '/body/received_bytes', message: `is more than the ${size} bytes of the file` };
      throw new BatonError('invalid_request', `${flaw.path} ${flaw.message}`, { errors: [flaw] });
    }
    const position = received;
    if (known.generation === null && position === 0) return;
    const isWhole = position === size;
    let generation = known.generation ?? (await generations.beginFor(file, { isWhole }));
    const { notify, end } = await store.acknowledge(file, generation, position);
    notifier.notify(notify, file);
    if (!isWhole && end !== null && end < position) {
      generation = await generations.rewind(file, { from: generation, offset: position, cause: 'asked' });
      await store.acknowledge(file, generation, position);
    }
    await transfers.acknowledged(asker, file, position);
    if (isWhole) await generations.delivered(file, generation, size);
  }

  /** Returns how far the uploads of a transfer are, without files that have no bytes in the store. */
  async offsets(transferId: string, generations: ReadonlyMap<number, number>): Promise<Map<number, number>> {
    const { store, notifier } = this.#parts;
    const holder = notifier.newHolder();
    const found = await Promise.all(
      [...generations].map(async ([index, generation]) => {
        const claim = { file: { transferId, index }, holder };
        return [index, await store.open(claim, generation, { side: '-', from: 0 })] as const;
      }),
    );
    return new Map(found.flatMap(([index, at]) => (at.found === 'here' ? [[index, at.extent.end] as const] : [])));
  }

  /** Removes the bytes of a transfer that has ended, and ends the requests for them on any replica. May be repeated. */
  async drop(account: string, transferId: string, generations: ReadonlyMap<number, number>): Promise<void> {
    const { store, notifier, quota } = this.#parts;
    const files = [...generations].map(([index, generation]) => ({ file: { account, transferId, index }, generation }));
    const released = quota.release(
      account,
      files.map(({ file }) => file),
    );
    // This includes requests that wait for a file that has not begun.
    const notified = store.readers(account, transferId).then((readers) => {
      for (const { file, channel } of readers) notifier.notify(channel, file);
    });
    const drops = files.map(async ({ file, generation }) =>
      notifier.notifyAll(await store.drop(file, generation), file),
    );
    // A failure of one does not keep the others from being done.
    const failed = (await Promise.allSettled([released, notified, ...drops])).find(
      (done) => done.status === 'rejected',
    );
    if (failed) throw failed.reason;
  }
}
