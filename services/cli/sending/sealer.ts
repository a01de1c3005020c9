import type { BatonClient, OutgoingTransfer, SendSettings } from '../../../shared/client/index.ts';
import type { Context } from '../context.ts';
import { CliError, failureOf } from '../failure.ts';
import { keyedToSend, sealingAt } from '../sealing.ts';
import type { Source } from './sources.ts';

/** How the files of one command reach the service. */
export interface Sealer {
  /** True: only the receiver can read them. */
  readonly isSealed: boolean;
  /** Returns the bytes that the service gets for these files. */
  bytesOf(sources: readonly Source[]): number;
  /**
   * Offers the files. `onOffered` gets the id of the transfer, and the key with which another process can resume it; the key
   * is undefined if the files are not sealed.
   */
  offer(
    to: string,
    sources: readonly Source[],
    settings: Pick<SendSettings, 'signal' | 'offlineMs' | 'concurrency'>,
    onOffered: (transferId: string, key: string | undefined) => Promise<void>,
  ): Promise<OutgoingTransfer>;
}

const plainSealer = (baton: BatonClient): Sealer => ({
  isSealed: false,
  bytesOf: (sources) => sources.reduce((sum, { size }) => sum + size, 0),
  offer: (to, sources, settings, onOffered) =>
    baton.transfers.send({ device_id: to }, sources, {
      ...settings,
      onOffered: ({ transfer_id: id }) => onOffered(id, undefined),
    }),
});

/** Adds the way out to the error about a receiver without keys. */
function withAdvice(error: unknown): unknown {
  const failure = failureOf(error);
  if (failure.code !== 'unkeyed_receiver') return error;
  return new CliError(`${failure.message}. \`--plain\` sends it all the same.`, failure);
}

/**
 * Finds out how files are sent to a device: sealed if this device has keys, and not sealed only if it has none, or with
 * `isPlain`. Throws if the receiver has no keys, before anything is read.
 */
export async function sealerFor(
  context: Context,
  { baton, url }: { baton: BatonClient; url: string },
  { to, isPlain }: { to: string; isPlain: boolean },
): Promise<Sealer> {
  const { signal } = context;
  const keyed = isPlain ? null : await keyedToSend(context, url);
  if (keyed === null) return plainSealer(baton);
  const { files, rings } = { files: keyed.sealing.files, rings: keyed.sealing.rings };
  try {
    files.check(keyed.keyring, to);
  } catch (error) {
    throw withAdvice(error);
  }
  const { sealedSizeOf } = await import('../../../shared/client/sealed.ts');
  return {
    isSealed: true,
    bytesOf: (sources) => sources.reduce((sum, { size }) => sum + sealedSizeOf(size), 0),
    async offer(to_, sources, settings, onOffered) {
      // The ring may have changed while the files before these were sent.
      const keyring = (await rings.current()) ?? keyed.keyring;
      const sealed = await files.seal(keyring, { to: to_, files: sources }, { signal });
      return files.send(baton.transfers, sealed, sources, {
        ...settings,
        onOffered: ({ transfer_id: id }) => onOffered(id, sealed.key),
      });
    },
  };
}

/** Resumes a transfer in another process: sealed with its key, or not sealed if it has none. */
export async function resumeWith(
  context: Context,
  { baton, url }: { baton: BatonClient; url: string },
  { transferId, key, concurrency }: { transferId: string; key: string | undefined; concurrency: number | undefined },
  sources: readonly Source[],
): Promise<OutgoingTransfer> {
  const settings = { signal: context.signal, offlineMs: null, ...(concurrency !== undefined && { concurrency }) };
  if (key === undefined) return baton.transfers.resume(transferId, sources, settings);
  const { files } = await sealingAt(context, url);
  return files.resume(baton.transfers, transferId, { key, files: sources }, settings);
}
