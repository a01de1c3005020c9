import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { BatonClient, Transfer } from '../../../shared/client/index.ts';
import type { Claim } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../failure.ts';
import { oneLine } from '../output.ts';
import { namesOf } from '../receiving/names.ts';
import type { BegunSend, Unfinished, UnfinishedSends } from '../unfinished.ts';
import { withClaim } from './sends.ts';

type Asked = Pick<Unfinished, 'paths' | 'spool'>;

/** Returns the names from the command; a folder has its own name. */
export const namesOfAsked = ({ paths, spool }: Asked | BegunSend): string[] => [
  ...(spool === null ? [] : [spool.name]),
  ...paths.map((path) => basename(path)),
];

const ENDED = ['DONE', 'FAILED', 'CANCELLED'];
/** The errors of cancelling a transfer that has ended meanwhile. */
export const OVER = ['invalid_transition', 'not_found', 'not_a_party'];

interface Parts {
  context: Context;
  baton: BatonClient;
  sends: UnfinishedSends;
}

function say({ output }: Context, transferId: string | null, code: string, names: string[], why: string): void {
  const message = `Not sent, interrupted before: ${namesOf(names)}. ${why}`;
  output.note(message);
  output.result({ transfer_id: transferId, error: { code, message }, not_sent: names }, null);
}

/** The states that an offer without a record can have, because a sender records an offer before it sends any of it. */
const OFFERED = ['PENDING', 'ACCEPTED'] as const;

/** Cancels the offer of a program that was killed. The offer may have arrived, and nobody would send its files. */
async function withdraw({ context, baton, sends }: Parts, { to, offering }: BegunSend): Promise<void> {
  if (offering === null) return;
  const { signal } = context;
  const pages = await Promise.all(OFFERED.map((state) => baton.transfers.list({ state, limit: 100 }, { signal })));
  const own = (await baton.session())?.device?.device_id;
  // Read after that list, so that it includes what another program offered meanwhile.
  const known = await sends.list();
  const isIt = (one: Transfer) =>
    one.sender.device_id === own &&
    one.receiver.device_id === to &&
    one.file_count === offering.files &&
    one.total_bytes === offering.bytes &&
    known.every(({ transferId }) => transferId !== one.transfer_id);
  const found = pages.flatMap(({ transfers }) => transfers).find(isIt);
  const claim = found && sends.claim(found.transfer_id);
  // If another program has the claim, it is about to record this offer.
  if (found === undefined || !claim) return;
  try {
    await baton.transfers.cancel(found.transfer_id, 'source_failed', { signal });
  } catch (error) {
    if (!OVER.includes(failureOf(error).code)) throw error;
  } finally {
    claim.remove();
  }
}

async function lookAtBegun(parts: Parts, begun: BegunSend, claim: Claim): Promise<void> {
  const { context, sends } = parts;
  const { spool, offering } = begun;
  const known = await sends.list();
  const isNoted = offering !== null && known.some(({ key }) => key === offering.key);
  if (!isNoted) await withdraw(parts, begun);
  // The report comes first, so that a program that is killed before the end reports the same again.
  if (!isNoted || !offering.isLast) {
    say(context, null, 'interrupted', namesOfAsked(begun), `Not all of it was offered to ${oneLine(begun.toName)}.`);
  }
  if (spool !== null && known.every((entry) => entry.spool?.path !== spool.path)) await rm(spool.path, { force: true });
  await sends.removeBegun(begun.id);
  claim.remove();
}

async function lookAtEntry({ context, baton, sends }: Parts, entry: Unfinished, claim: Claim): Promise<void> {
  const transfer = await baton.transfers.get(entry.transferId, { signal: context.signal }).catch((error: unknown) => {
    if (['not_found', 'not_a_party'].includes(failureOf(error).code)) return null;
    throw error;
  });
  if (transfer !== null && !ENDED.includes(transfer.state)) return;
  if (transfer === null && entry.watch !== undefined) {
    await sends.forget(entry.transferId);
    return claim.remove();
  }
  const names = namesOfAsked(entry);
  if (transfer?.state === 'DONE') {
    context.output.note(`Sent to ${oneLine(transfer.receiver.name)} before: ${namesOf(names)}.`);
  } else {
    const why = transfer === null ? 'gone' : transfer.state.toLowerCase();
    const code = transfer === null ? 'transfer_gone' : (transfer.error?.code ?? why);
    say(context, entry.transferId, code, names, `The transfer is ${why}.`);
  }
  await sends.remove(entry.transferId);
  claim.remove();
}

/**
 * Reports what killed programs had begun to send and what has ended since, with the files that were not sent. `isOurs`: the
 * sends that this command resumes itself.
 */
export async function sayUnsent(parts: Parts, isOurs: (entry: Unfinished) => boolean): Promise<void> {
  const { sends } = parts;
  for (const begun of await sends.listBegun()) {
    await withClaim(sends, begun.id, (claim) => lookAtBegun(parts, begun, claim));
  }
  for (const entry of await sends.list()) {
    if (isOurs(entry)) continue;
    await withClaim(sends, entry.transferId, (claim) => lookAtEntry(parts, entry, claim));
  }
}
