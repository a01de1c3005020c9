import type { Claim } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import { CliError, failureOf } from '../failure.ts';
import type { Unfinished } from '../unfinished.ts';
import { checkMayGoOn, giveUp } from './earlier.ts';
import { follow, sayDone } from './following.ts';
import type { Online } from './online.ts';
import { resumeWith } from './sealer.ts';
import { sendsOf } from './sends.ts';
import { filesOf, keyOf, NOTHING_ODD, piecesOf, type Source, sourcesOf } from './sources.ts';
import { sayUnsent } from './unsent.ts';

/** Resumes a send. Throws `taken` if another program has it. */
export async function goOn(context: Context, online: Online, entry: Unfinished, leave: boolean): Promise<void> {
  const claim = sendsOf(context).claim(entry.transferId);
  if (claim === null) throw new CliError('Another program sends this now.', { code: 'taken' });
  try {
    await goOnWith(context, online, entry, { claim, leave });
  } finally {
    claim.release();
  }
}

async function goOnWith(
  context: Context,
  online: Online,
  entry: Unfinished,
  { claim, leave }: { claim: Claim; leave: boolean },
): Promise<void> {
  const { baton, line, concurrency } = online;
  // Files that cannot be read now may be on a drive that is not mounted yet.
  const { sources, ...odd } = await sourcesOf(entry);
  const key = await keyOf(entry.to, entry.paths, sources);
  const piece = piecesOf(sources).find((_, index) => entry.key === `${key}-${index}`);
  if (piece === undefined) {
    await giveUp({ context, baton, sends: sendsOf(context) }, entry);
    claim.remove();
    throw new CliError('The files have changed since. Send them anew.');
  }
  const { transferId, sealedKey } = entry;
  const transfer = await resumeWith(context, online, { transferId, key: sealedKey, concurrency }, piece);
  line.aside(() => context.output.note('Going on where it stopped.'));
  await follow(context, online, { transfer, sources: piece, entry, claim, odd, leave });
}

/** Reports the failures that a command goes on after, and throws the first one at its end. */
export function makeFailures({ output }: Context) {
  const failures: unknown[] = [];
  return {
    add(error: unknown): void {
      const { code, message, notSent } = failureOf(error);
      output.note(message);
      // The first failure ends the program. Further failures are reported as results.
      if (failures.length > 0) output.result({ error: { code, message }, not_sent: notSent ?? [] }, null);
      failures.push(error);
    },
    throwFirst(): void {
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Resumes all sends one by one, so that a failure does not stop the others. `isPlain`: also what is not encrypted. */
export async function continueAll(context: Context, online: Online, isPlain: boolean): Promise<void> {
  const sends = sendsOf(context);
  const { baton } = online;
  await sayUnsent({ context, baton, sends }, () => false);
  const entries = await sends.list();
  if (entries.length === 0) context.output.note('Nothing was interrupted.');
  else baton.start();
  const failures = makeFailures(context);
  for (const entry of entries) {
    try {
      await checkMayGoOn(context, online, entry, isPlain);
      await goOn(context, online, entry, false);
    } catch (error) {
      if (context.signal.aborted) throw error;
      failures.add(error);
    }
  }
  failures.throwFirst();
}

/** Resumes a transfer. False: the transfer is gone or has ended, and the files are offered again. */
export async function wentOn(
  context: Context,
  online: Online,
  sources: readonly Source[],
  { entry, leave }: { entry: Unfinished; leave: boolean },
): Promise<boolean> {
  try {
    const transfer = await online.baton.transfers.get(entry.transferId, { signal: context.signal });
    if (transfer.state === 'DONE') {
      // Everything was in the relay when the command was interrupted, and the receiver has taken it since.
      await sendsOf(context).remove(entry.transferId);
      const isSealed = entry.sealedKey !== undefined;
      online.line.aside(() => sayDone(context, transfer, { sent: filesOf(sources), odd: NOTHING_ODD, isSealed }));
      return true;
    }
    if (['FAILED', 'CANCELLED'].includes(transfer.state)) throw new CliError('over', { code: 'transfer_gone' });
    await goOn(context, online, entry, leave);
    return true;
  } catch (error) {
    if (!['not_found', 'transfer_gone'].includes(failureOf(error).code)) throw error;
    await sendsOf(context).remove(entry.transferId);
    return false;
  }
}
