import {
  type BatonClient,
  BatonClientError,
  type FileSource,
  type IncomingTransfer,
  type OutgoingTransfer,
  type RunningTransfer,
  type SendSettings,
} from '../../../shared/client/index.ts';
import { keysOf, sealedSizeOf } from '../../../shared/client/sealed.ts';
import type { ReceivedFiles, SealedFiles } from '../../../shared/client/sealing.ts';
import { sealedRuns } from '../files/paths.ts';
import type { Waiting } from '../outbox/queue.ts';
import type { OwnRing } from './own-ring.ts';

/** A sealed offer as it is stored before it is made, so that each attempt makes the same. */
interface FilesEnvelope {
  readonly epoch: number;
  readonly sealed: string;
  readonly key: string;
  /** The digest of the names, sizes and digests. */
  readonly of: string;
  readonly enc?: string | undefined;
}

interface FileParts {
  client: BatonClient;
  /** Tells whether the user lets this device get what is not encrypted. */
  isOpenTo: (deviceId: string) => Promise<boolean>;
}

/** Returns the digest of the description of files in an offer. */
async function digestOfAll(sources: readonly FileSource[]): Promise<string> {
  const said = JSON.stringify(sources.map(({ name, size, type, sha256 }) => [name, size, type, sha256]));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(said));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Keeps who seals the signals of a transfer, from before it runs until it is over. */
function keepRun(transferId: string, files: SealedFiles): { until: (running: RunningTransfer) => void } {
  sealedRuns.set(transferId, files);
  const forget = (): void => {
    // The transfer may run again meanwhile.
    if (sealedRuns.get(transferId) === files) sealedRuns.delete(transferId);
  };
  return { until: ({ done }) => void done.then(forget, forget) };
}

/** Seals files before they are offered. */
const makeSending = ({ client, isOpenTo }: FileParts, ring: OwnRing) => ({
  /**
   * Says how files go to this device. `open`: its user lets it get them unencrypted. Throws if they cannot be sealed now,
   * before anything is read.
   */
  async wayTo(to: string): Promise<'sealed' | 'open'> {
    const keyring = await ring.current();
    if (keysOf(keyring, to, Date.now()) === null && (await isOpenTo(to))) return 'open';
    ring.sealing().files.check(keyring, to);
    return 'sealed';
  },

  /**
   * Seals the description of files in an offer, in the same way for each attempt. Files that changed since an attempt that
   * may have arrived are not offered in its place.
   */
  async sealOffer({ to, envelope, unknownSince }: Waiting, sources: readonly FileSource[]): Promise<FilesEnvelope> {
    const keyring = await ring.current();
    const { epoch } = keyring.ring.body;
    const [of, enc] = [await digestOfAll(sources), keysOf(keyring, to, Date.now())?.enc];
    if (envelope?.key !== undefined && envelope.of === of) {
      // If it were sealed again, an offer that has arrived would appear twice. Only its receiver opens it, even after a
      // rotation.
      const isSame = envelope.epoch === epoch && enc !== undefined && (envelope.enc ?? enc) === enc;
      if (isSame || unknownSince !== null) return { ...envelope, key: envelope.key, of };
    } else if (envelope !== undefined && unknownSince !== null) {
      throw new BatonClientError('idempotency_key_reused', 'The files have changed', { action: 'tell-user' });
    }
    const { sealed, key } = await ring.sealing().files.seal(keyring, { to, files: sources });
    return { epoch, enc, sealed, key, of };
  },

  sealedBytesOf: (sources: readonly FileSource[]): number =>
    sources.reduce((sum, { size }) => sum + sealedSizeOf(size), 0),

  async sendFiles(
    to: string,
    { sealed, key }: FilesEnvelope,
    sources: readonly FileSource[],
    settings: SendSettings,
  ): Promise<OutgoingTransfer> {
    const { files } = ring.sealing();
    const onOffered: SendSettings['onOffered'] = ({ transfer_id }) => void keepRun(transfer_id, files);
    const running = await files.send(client.transfers, { to, sealed, key }, sources, { ...settings, onOffered });
    keepRun(running.id, files).until(running);
    return running;
  },

  /** Resumes what another page of this browser has offered. It needs only the key of the files. */
  async resumeFiles(
    transferId: string,
    key: string,
    sources: readonly FileSource[],
    settings: SendSettings,
  ): Promise<OutgoingTransfer> {
    const { files } = ring.sealing();
    const run = keepRun(transferId, files);
    const running = await files.resume(client.transfers, transferId, { key, files: sources }, settings);
    run.until(running);
    return running;
  },
});

/** Opens what other devices offer. */
function makeReceiving({ client }: FileParts, ring: OwnRing) {
  const openedOffer = (offer: IncomingTransfer, files: SealedFiles): IncomingTransfer => ({
    ...offer,
    accept(open, settings) {
      const run = keepRun(offer.id, files);
      const running = offer.accept(open, settings);
      run.until(running);
      return running;
    },
  });

  return {
    /** Opens the description of an offer. Only one under a newer ring than the known one is worth a request. */
    async openOffer(offer: IncomingTransfer): Promise<ReceivedFiles> {
      const open = async (): Promise<ReceivedFiles> => {
        const keyring = await ring.current();
        const { files } = ring.sealing();
        const found = await files.open(client.transfers, keyring, offer);
        return found.kind === 'opened' ? { ...found, offer: openedOffer(found.offer, files) } : found;
      };
      const found = await open();
      if (found.kind !== 'waits' || found.problem.code !== 'unknown_key') return found;
      ring.forget();
      return open();
    },

    /** Tells the sender of an offer that this browser cannot open it. */
    refuseFiles: (transferId: string): Promise<void> => ring.sealing().files.refuse(transferId),
  };
}

/** Seals and opens the files of this browser. */
export const makeAppFiles = (parts: FileParts, ring: OwnRing) => ({
  ...makeSending(parts, ring),
  ...makeReceiving(parts, ring),
});
