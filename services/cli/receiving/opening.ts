import { setTimeout } from 'node:timers/promises';
import { type BatonClient, BatonClientError, type IncomingTransfer } from '../../../shared/client/index.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../failure.ts';
import { deviceNameOf } from '../output.ts';
import { expectsEncryption, type Keyed, keyedAt, NOT_ENCRYPTED, sealingAt } from '../sealing.ts';

/** After this time a service that did not respond is asked again. */
const RETRY_MS = 2_000;

/** Opens what was sealed for this device, before the user is asked about it. */
export interface Opener {
  /** Returns the offer as its sender described it; null if it is not taken, which was reported. */
  open(offer: IncomingTransfer): Promise<IncomingTransfer | null>;
  /** Tells whether the user has to be asked, because the files are not encrypted and this device has keys. */
  mustAsk(id: string): boolean;
  /** Notes that the user wants these files all the same. */
  noteWanted(id: string): void;
}

interface Parts {
  context: Context;
  baton: BatonClient;
  url: string;
  /** How files that are not sealed are taken on a device with keys. */
  plain: 'take' | 'ask' | 'leave';
  /** Writes a line beside the progress. */
  note: (text: string) => void;
  /** Called with an offer that had to wait for the next ring, and may be opened now. */
  onMayOpen: (offer: IncomingTransfer) => void;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Reports an offer that is not taken. */
function tell({ context, note }: Parts, { id, transfer }: IncomingTransfer, code: string, why: string): null {
  const message = `${deviceNameOf(transfer.sender.name)} sends files that are not taken: ${sentence(why)}`;
  note(message);
  context.output.result({ transfer_id: id, error: { code, message }, not_received: [] }, null);
  return null;
}

/** Keeps the offers that cannot be opened now, and hands them out when the ring has changed. */
function makeWaiting({ baton, onMayOpen }: Parts) {
  const waiting = new Map<string, IncomingTransfer>();
  baton.on('event', ({ name }) => {
    if (name !== 'keys') return;
    const offers = [...waiting.values()];
    waiting.clear();
    for (const offer of offers) onMayOpen(offer);
  });
  baton.on('transfer', ({ transfer_id: id, state }) => {
    if (['DONE', 'FAILED', 'CANCELLED'].includes(state)) waiting.delete(id);
  });
  return (offer: IncomingTransfer) => void waiting.set(offer.id, offer);
}

/** Makes the opener of a command that receives. It loads the code that opens only if there are keys or sealed files. */
export function makeOpener(parts: Parts): Opener {
  const { context, baton, url, plain } = parts;
  const { signal } = context;
  const asks = new Set<string>();
  const keep = makeWaiting(parts);

  /** Judges files that are not sealed. */
  function takePlain(offer: IncomingTransfer, isExpected: boolean): IncomingTransfer | null {
    if (isExpected && plain === 'ask') asks.add(offer.id);
    if (!isExpected || plain !== 'leave') return offer;
    const advice = 'Run `baton receive` without --yes to be asked, or with --plain';
    return tell(parts, offer, 'not_encrypted', `they are ${NOT_ENCRYPTED}. ${advice}`);
  }

  /** Tells whether plain files are to be judged. `--plain` takes them without a question to the service. */
  const isExpected = async (keyed: Keyed | null): Promise<boolean> =>
    plain !== 'take' && (await expectsEncryption(context, url, keyed));

  async function tryToOpen(offer: IncomingTransfer): Promise<IncomingTransfer | null> {
    const keyed = await keyedAt(context, url);
    // A service of an earlier version leaves `sealed` out.
    if ((offer.transfer.sealed ?? null) === null) return takePlain(offer, await isExpected(keyed));
    const { files } = keyed?.sealing ?? (await sealingAt(context, url));
    const found = await files.open(baton.transfers, keyed?.keyring ?? null, offer, { signal });
    if (found.kind === 'opened') return found.offer;
    if (found.kind === 'plain') return takePlain(found.offer, await isExpected(keyed));
    if (found.kind === 'waits') keep(offer);
    // The transfer may have ended meanwhile, and then nobody needs to be told.
    else await files.refuse(offer.id, { signal }).catch(() => undefined);
    return tell(parts, offer, found.problem.code, found.problem.message);
  }

  /**
   * Tells whether an error may pass: one of the service, or one of this computer, such as a full disk, which is reported
   * once. Any other error is reported, and the offer waits for the next ring. `told`: what was reported.
   */
  function mayPass(offer: IncomingTransfer, error: unknown, told: Set<string>): boolean {
    if (error instanceof BatonClientError && error.action === 'retry') return true;
    const { code, message } = failureOf(error);
    if (error instanceof Error && 'errno' in error) {
      if (!told.has(message)) tell(parts, offer, code, message);
      told.add(message);
      return true;
    }
    // The offer was withdrawn meanwhile.
    if (code === 'not_found') return false;
    keep(offer);
    tell(parts, offer, code, message);
    return false;
  }

  return {
    mustAsk: (id) => asks.has(id),
    noteWanted: (id) => void asks.delete(id),
    async open(offer) {
      const told = new Set<string>();
      while (!signal.aborted) {
        try {
          return await tryToOpen(offer);
        } catch (error) {
          if (signal.aborted || !mayPass(offer, error, told)) return null;
          await setTimeout(RETRY_MS, undefined, { signal }).catch(() => undefined);
        }
      }
      return null;
    },
  };
}
