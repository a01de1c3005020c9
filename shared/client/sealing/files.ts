import type { BatonClientOptions, IncomingTransfer, RunningTransfer, SendSettings, Transfers } from '../api.ts';
import { fileNameFlaw } from '../../contract/vocabulary/file-names.ts';
import { digestsOf } from '../files/digest.ts';
import type { FileSource } from '../files/files.ts';
import { scriptSha256 } from '../files/sha256.ts';
import { dateOf } from '../files/sources.ts';
import { keyIn, keyText, type MakeRecordCipher, makeRecords, sealedSizeOf } from '../sealed/content/records.ts';
import { type OpenedDescription, openTransfer, sealTransfer } from '../sealed/content/transfers.ts';
import { type Keyring, keysOf } from '../sealed/keyring.ts';
import type { KeyStore } from '../sealed/keys/key-store.ts';
import type { Bytes } from '../sealed/primitives/bytes.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import type { Transfer, TransferFile } from '../wire.ts';
import type { Rings, SealedFiles } from './api.ts';
import { checkReady, judge, withNewest } from './judgement.ts';
import { openingSink } from './opening-sink.ts';
import { sealingError } from './problem.ts';
import { sealedPeerToPeer } from './sealed-signals.ts';
import { sealedSource } from './sealed-source.ts';
import type { SealingCalls } from './sealing-calls.ts';
import { findTaken, takenId, type TakenTexts } from './taken.ts';

/** The longest type that the service takes from a client without keys. */
const TYPE_LENGTH = 255;

interface Parts {
  readonly calls: Pick<SealingCalls, 'serverNow' | 'trustedNow' | 'caller'>;
  readonly store: KeyStore;
  readonly rings: Pick<Rings, 'current'>;
  readonly taken: TakenTexts;
  readonly sha256: BatonClientOptions['sha256'];
  readonly recordCipher: MakeRecordCipher | undefined;
}

function keyOf(text: string): Bytes {
  const key = keyIn(text);
  if (key === null) throw new TypeError('this is not the key of a transfer');
  return key;
}

/** Returns the transfer as its two devices know it. */
const shownAs = (transfer: Transfer, files: readonly TransferFile[]): Transfer => ({
  ...transfer,
  files: [...files],
  total_bytes: files.reduce((sum, { size }) => sum + size, 0),
});

/** Returns the handle of a running transfer that names the files as its two devices know them. */
function handleAs<T extends RunningTransfer>(running: T, files: readonly TransferFile[]): T {
  const done = running.done.then((transfer) => shownAs(transfer, files));
  // A caller that does not use `done` must not cause an unhandled rejection.
  done.catch(() => {});
  return Object.defineProperties({} as T, {
    ...Object.getOwnPropertyDescriptors(running),
    transfer: { enumerable: true, get: () => shownAs(running.transfer, files) },
    done: { enumerable: true, value: done },
  });
}

const filesOfSources = (sources: readonly FileSource[]): TransferFile[] =>
  sources.map((source, index) => {
    const { name, size, type = null, sha256 = null } = source;
    return { index, name, size, type, sha256, ...dateOf(source) };
  });

/** Checks that the service has the files of the description, and that their names are ones that it takes itself. */
function filesIn({ files }: OpenedDescription, transfer: Transfer): TransferFile[] {
  const given = transfer.files ?? [];
  const isSame = files.every(({ size }, index) => {
    const file = given[index];
    return file?.index === index && file.size === sealedSizeOf(size);
  });
  const isFit = files.every(({ name, type }) => fileNameFlaw(name) === null && type.length <= TYPE_LENGTH);
  if (files.length !== given.length || files.length !== transfer.file_count || !isSame || !isFit) {
    throw sealedError('cannot_open');
  }
  return files.map(({ type, sha256 = null, ...file }, index) => ({
    ...{ index, ...file, type: type === '' ? null : type, sha256 },
  }));
}

/** Seals files before the service gets them, and opens what other devices have sealed. */
export function makeSealedFiles({
  calls,
  store,
  rings,
  taken,
  sha256 = scriptSha256,
  recordCipher,
}: Parts): SealedFiles {
  const never = new AbortController().signal;

  /** The keys of the running transfers, for their signals. */
  const keys = new Map<string, Bytes>();
  function keepKey(transferId: string, key: Bytes, { done }: { done: Promise<unknown> }): void {
    const forget = () => {
      // The transfer may run again meanwhile.
      if (keys.get(transferId) === key) keys.delete(transferId);
    };
    done.then(forget, forget);
  }

  function sealedSources(files: readonly FileSource[], key: Bytes, transferId: Promise<string>): FileSource[] {
    return files.map((source, index) => sealedSource(source, { index, key, transferId, recordCipher }));
  }

  /** Returns the offer with the key in it. Opens only what was not taken as another transfer before. */
  async function opened(keyring: Keyring, offer: IncomingTransfer) {
    const { transfer, id } = offer;
    const { sealed, sender: from } = transfer;
    const description = await withNewest(
      keyring,
      () => rings.current(),
      (known) => openTransfer(known, { sealed: sealed ?? '', from: from.device_id }),
    );
    // Its transfers ended with its removal, unless somebody kept them.
    if (description.sender.isRemoved) throw sealedError('not_a_member');
    const files = filesIn(description, transfer);
    const before = await findTaken(taken, description);
    if (before !== null && before.messageId !== id) throw sealingError('sent_before');
    const { sender, n, t } = description;
    if (before === null) await taken.addMessage(takenId(sender.device_id, description.id), id, n, t);
    return { files, key: description.key, sender };
  }

  function openedOffer(offer: IncomingTransfer, files: readonly TransferFile[], key: Bytes): IncomingTransfer {
    return {
      ...offer,
      transfer: shownAs(offer.transfer, files),
      accept(open, settings) {
        keys.set(offer.id, key);
        const running = offer.accept(async ({ index }, signal, run) => {
          const file = files[index] as TransferFile;
          const about = { transferId: offer.id, index, size: file.size };
          const records = await makeRecords(key, about, recordCipher);
          return openingSink(await open(file, signal, run), { file, records, sha256, signal });
        }, settings);
        keepKey(offer.id, key, running);
        return handleAs(running, files);
      },
    };
  }

  const check: SealedFiles['check'] = (keyring, to) => {
    checkReady(keyring, calls.trustedNow());
    if (keysOf(keyring, to, calls.trustedNow()) === null) throw sealingError('unkeyed_receiver');
  };

  return {
    check,

    async seal(keyring, { to, files }, { digest = true, signal = never } = {}) {
      check(keyring, to);
      const digests = digest ? await digestsOf(files, sha256, signal) : files.map((file) => file.sha256 ?? null);
      const described = files.map((file, index) => {
        const [{ name, size, type = '' }, own = null] = [file, digests[index]];
        return { name, size, type, ...(own !== null && { sha256: own }), ...dateOf(file) };
      });
      const { sealed, key } = await sealTransfer(keyring, { to, files: described, t: calls.serverNow() });
      return { to, sealed, key: keyText(key) };
    },

    async send(transfers: Transfers, { to, sealed, key: text }, files, settings: SendSettings = {}) {
      let bind: (id: string) => void = () => {};
      const transferId = new Promise<string>((resolve) => {
        bind = resolve;
      });
      const key = keyOf(text);
      const running = await transfers.send({ device_id: to }, sealedSources(files, key, transferId), {
        ...settings,
        ...{ sealed, digest: false },
        async onOffered(transfer) {
          bind(transfer.transfer_id);
          keys.set(transfer.transfer_id, key);
          await settings.onOffered?.(transfer);
        },
      });
      keepKey(running.id, key, running);
      return handleAs(running, filesOfSources(files));
    },

    async resume(transfers, transferId, { key: text, files }, settings) {
      const key = keyOf(text);
      keys.set(transferId, key);
      const sources = sealedSources(files, key, Promise.resolve(transferId));
      const running = await transfers.resume(transferId, sources, settings);
      keepKey(transferId, key, running);
      return handleAs(running, filesOfSources(files));
    },

    async open(transfers, keyring, offer, settings) {
      if ((offer.transfer.sealed ?? null) === null) return { kind: 'plain', offer };
      if (keyring === null) return { kind: 'refused', problem: sealedError('unkeyed') };
      // Events and lists leave out what is sealed.
      const whole = offer.transfer.sealed === '' ? await transfers.incoming(offer.id, settings) : offer;
      try {
        const { files, key, sender } = await opened(keyring, whole);
        return { kind: 'opened', offer: openedOffer(whole, files, key), sender };
      } catch (error) {
        return judge(store, keyring, error);
      }
    },

    sealSignals: (peers) => sealedPeerToPeer(peers, (id) => keys.get(id) ?? null),

    async refuse(transferId, settings) {
      const params = { transfer_id: transferId };
      await calls.caller.call('failTransfer', { params, body: { reason: 'cannot_open' }, ...settings });
    },
  };
}
