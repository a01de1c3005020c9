import type { BatonClient, Transfer } from '../../../shared/client/index.ts';
import { dropParts, type LeftReceive, type ReceiveClaim, type ReceiveRecords } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../failure.ts';
import { oneLine } from '../output.ts';
import { namesOf } from './names.ts';

/** Returns the transfer; null: the service no longer knows it. */
async function stateOf(baton: BatonClient, id: string, signal: AbortSignal): Promise<Transfer | null> {
  try {
    return await baton.transfers.get(id, { signal });
  } catch (error) {
    if (['not_found', 'not_a_party'].includes(failureOf(error).code)) return null;
    throw error;
  }
}

/** Returns the files of an ended transfer that did not get a name. */
async function missingOf({ begun }: LeftReceive, claim: ReceiveClaim): Promise<string[]> {
  const last = begun.at(-1);
  const missing: string[] = [];
  for (const file of last?.files ?? []) {
    const stored = last === undefined || last.folder === '-' ? 0 : (await claim.find(file, last.folder)).size;
    if (stored < file.count) missing.push(file.name);
  }
  return missing;
}

function say({ output }: Context, left: LeftReceive, transfer: Transfer | null, missing: string[]): void {
  const from = oneLine(left.begun.at(-1)?.from ?? '');
  const why = transfer === null ? 'gone' : transfer.state.toLowerCase();
  const code = transfer === null ? 'transfer_gone' : (transfer.error?.code ?? why);
  const message = `Not received from ${from}, interrupted before: ${namesOf(missing)}. The transfer is ${why}.`;
  output.note(message);
  output.result({ transfer_id: left.transferId, error: { code, message }, not_received: missing }, null);
}

/**
 * Reports transfers that a killed program had begun to receive and that have ended since, with the files that did not come.
 * The service announces the others again.
 */
export async function sayLeft(context: Context, baton: BatonClient, records: ReceiveRecords): Promise<void> {
  const { signal } = context;
  for (const left of await records.list()) {
    const claim = records.claim(left.transferId);
    if (claim === null) continue;
    try {
      const transfer = await stateOf(baton, left.transferId, signal);
      if (transfer !== null && !['DONE', 'FAILED', 'CANCELLED'].includes(transfer.state)) {
        claim.release();
        continue;
      }
      const missing = transfer?.state === 'DONE' ? [] : await missingOf(left, claim);
      // The report comes first, so that a program that is killed in between reports the transfer again.
      if (missing.length > 0) say(context, left, transfer, missing);
      for (const { folder } of left.begun) if (folder !== '-') dropParts(folder, left.transferId);
      claim.remove();
    } catch (error) {
      claim.release();
      if (signal.aborted) throw error;
      // The next start asks again.
    }
  }
}
