import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { BatonClient, Transfer } from '../../../shared/client/index.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../failure.ts';
import { oneLine } from '../output.ts';
import { namesOf } from '../receiving/names.ts';
import type { BegunSend, Unfinished, UnfinishedSends } from '../unfinished.ts';

type Asked = Pick<Unfinished, 'paths' | 'spool'>;

/** As they were asked for: a folder by its own name. */
const namesOfAsked = ({ paths, spool }: Asked | BegunSend): string[] => [
  ...(spool === null ? [] : [spool.name]),
  ...paths.map((path) => basename(path)),
];

const ENDED = ['DONE', 'FAILED', 'CANCELLED'];
/** Why a transfer cannot be cancelled that has ended meanwhile. */
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

/** A sender notes what it offered before it sends any of it: what nobody noted has come no further than that. */
const OFFERED = ['PENDING', 'ACCEPTED'] as const;

/** Of a program that was killed while it offered this: the offer may have come, and nobody would send it. */
async function withdraw({ context, baton, sends }: Parts, { to, offering }: BegunSend): Promise<void> {
  if (offering === null) return;
  const { signal } = context;
  const pages = await Promise.all(OFFERED.map((state) => baton.transfers.list({ state, limit: 100 }, { signal })));
  const own = (await baton.session())?.device?.device_id;
  // Behind that list: what another program offered meanwhile is in it.
  const known = await sends.list();
  const isIt = (one: Transfer) =>
    one.sender.device_id === own &&
    one.receiver.device_id === to &&
    one.file_count === offering.files &&
    one.total_bytes === offering.bytes &&
    known.every(({ transferId }) => transferId !== one.transfer_id);
  const found = pages.flatMap(({ transfers }) => transfers).find(isIt);
  const claim = found && sends.claim(found.transfer_id);
  // A program that runs is about to note it.
  if (found === undefined || !claim) return;
  try {
    await baton.transfers.cancel(found.transfer_id, 'source_failed', { signal });
  } catch (error) {
    if (!OVER.includes(failureOf(error).code)) throw error;
  } finally {
    claim.remove();
  }
}

async function lookAtBegun(parts: Parts, begun: BegunSend): Promise<void> {
  const { context, sends } = parts;
  const claim = sends.claim(begun.id);
  if (claim === null) return;
  const { spool, offering } = begun;
  const known = await sends.list();
  const isNoted = offering !== null && known.some(({ key }) => key === offering.key);
  if (!isNoted) await withdraw(parts, begun);
  // Said first: what is killed after it says it again.
  if (!isNoted || !offering.isLast) {
    say(context, null, 'interrupted', namesOfAsked(begun), `Not all of it was offered to ${oneLine(begun.toName)}.`);
  }
  if (spool !== null && known.every((entry) => entry.spool?.path !== spool.path)) await rm(spool.path, { force: true });
  await sends.removeBegun(begun.id);
  claim.remove();
}

async function lookAtEntry({ context, baton, sends }: Parts, entry: Unfinished): Promise<void> {
  const claim = sends.claim(entry.transferId);
  if (claim === null) return;
  const transfer = await baton.transfers.get(entry.transferId, { signal: context.signal }).catch((error: unknown) => {
    if (['not_found', 'not_a_party'].includes(failureOf(error).code)) return null;
    throw error;
  });
  if (transfer !== null && !ENDED.includes(transfer.state)) return claim.release();
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
 * What programs that were killed had begun to send, and what has ended since: what was not sent is named. `isOurs`: what this
 * command goes on with itself.
 */
export async function sayUnsent(parts: Parts, isOurs: (entry: Unfinished) => boolean): Promise<void> {
  for (const begun of await parts.sends.listBegun()) await lookAtBegun(parts, begun);
  for (const entry of await parts.sends.list()) if (!isOurs(entry)) await lookAtEntry(parts, entry);
}
