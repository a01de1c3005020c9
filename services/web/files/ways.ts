import type { FileSource, OutgoingTransfer, SendSettings } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import type { FilesItem } from '../history/database.ts';
import type { Waiting } from '../outbox/queue.ts';

/** An offer that can be made. */
interface ReadyOffer {
  /** Its sealed part; undefined if nothing is sealed. */
  readonly envelope: Waiting['envelope'];
  /** The bytes that the service gets. */
  readonly bytes: number;
  /** The part that the item keeps. */
  readonly about: Pick<FilesItem, 'lock' | 'fileKey'>;
  send(settings: SendSettings): Promise<OutgoingTransfer>;
}

/** How files reach a device. */
interface Way {
  ready(waiting: Waiting, sources: readonly FileSource[]): Promise<ReadyOffer>;
}

/**
 * Finds out how files reach a device: sealed if this browser has keys, unless its user wants them to go unencrypted. Throws
 * if they cannot go now, before anything is read.
 */
export async function wayTo({ client, keys }: Pick<Parts, 'client' | 'keys'>, { thread }: FilesItem): Promise<Way> {
  const sealing = await keys.toSend();
  const lock = await sealing?.wayTo(thread);
  const about = lock === undefined ? {} : { lock };
  return {
    async ready(waiting, sources) {
      if (sealing === null || lock !== 'sealed') {
        const bytes = sources.reduce((sum, { size }) => sum + size, 0);
        const to = { device_id: thread };
        return { envelope: undefined, bytes, about, send: (settings) => client.transfers.send(to, sources, settings) };
      }
      const envelope = await sealing.sealOffer(waiting, sources);
      const bytes = sealing.sealedBytesOf(sources);
      const send: ReadyOffer['send'] = (settings) => sealing.sendFiles(thread, envelope, sources, settings);
      return { envelope, bytes, about: { ...about, fileKey: envelope.key }, send };
    },
  };
}

/** Resumes files that another page of this browser has offered: with their key, if they are sealed. */
export async function resumeFiles(
  { client, keys }: Pick<Parts, 'client' | 'keys'>,
  { ref, fileKey }: FilesItem,
  sources: readonly FileSource[],
  settings: SendSettings,
): Promise<OutgoingTransfer> {
  if (fileKey === undefined) return client.transfers.resume(ref, sources, settings);
  return (await keys.open()).resumeFiles(ref, fileKey, sources, settings);
}
