import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Claim } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import type { BegunSend, Unfinished } from '../unfinished.ts';
import { dropChanged, unlessPlain } from './earlier.ts';
import { follow } from './following.ts';
import { offer } from './offering.ts';
import type { Online } from './online.ts';
import { wentOn } from './resuming.ts';
import type { Sealer } from './sealer.ts';
import { sendsOf } from './sends.ts';
import { keyOf, NOTHING_ODD, type Odd, piecesOf, type Source, sourcesOf } from './sources.ts';
import { sayUnsent } from './unsent.ts';

/** The files of one receiver. */
export interface Asked extends Pick<Unfinished, 'to' | 'paths' | 'spool' | 'watch'> {
  packs: boolean;
  excludes: readonly string[];
  /** True: the user has said that it goes without encryption. */
  isPlain: boolean;
  /** Standard input, if it cannot have the requested name. */
  renamed: Odd['renamed'];
}

/** The delivery to one receiver, from its record to its end. */
export interface Delivery {
  readonly asked: Asked;
  readonly sealer: Sealer;
  readonly begun: BegunSend;
  readonly claim: Claim | null;
}

/** A delivery whose files were found. */
interface Ready {
  readonly delivery: Delivery;
  readonly sources: readonly Source[];
  readonly odd: Odd;
  readonly key: string;
}

/** Records a delivery, in case the program is killed before all of it is offered. */
export async function beginDelivery(
  context: Context,
  { asked, sealer, toName }: { asked: Asked; sealer: Sealer; toName: string },
): Promise<Delivery> {
  const sends = sendsOf(context);
  const id = randomUUID();
  const { to, paths, spool } = asked;
  const begun = { id, to, toName, paths, spool, offering: null };
  const claim = sends.claim(id);
  await sends.keepBegun(begun);
  return { asked, sealer, begun, claim };
}

/** Ends a delivery. An offer without a response keeps its record, because the next start checks whether it arrived. */
export async function endDelivery(context: Context, { asked: { spool }, begun, claim }: Delivery): Promise<void> {
  const sends = sendsOf(context);
  const isKept = spool === null || (await sends.list()).some((entry) => entry.spool?.path === spool.path);
  if (!isKept) await rm(spool.path, { force: true });
  const isUnsure = (await sends.listBegun()).some((one) => one.id === begun.id && one.offering !== null);
  if (!isUnsure) await sends.removeBegun(begun.id);
  claim?.remove();
}

/** Finds the files of a delivery. */
export async function readyFor(delivery: Delivery): Promise<Ready> {
  const { asked } = delivery;
  const { sources, ...found } = await sourcesOf(asked);
  const odd = { ...found, renamed: [...asked.renamed, ...found.renamed] };
  return { delivery, sources, odd, key: await keyOf(asked.to, asked.paths, sources) };
}

/** Drops and reports earlier sends that none of these deliveries resumes. */
export async function clearEarlier(context: Context, online: Online, ready: readonly Ready[]): Promise<void> {
  const parts = { context, baton: online.baton, sends: sendsOf(context) };
  for (const { delivery, key } of ready) {
    if (delivery.asked.spool === null) await dropChanged(parts, delivery.asked, key);
  }
  await sayUnsent(parts, (entry) => ready.some(({ key }) => entry.key.startsWith(`${key}-`)));
}

/** Offers or resumes the files of a delivery, one piece after the other. `earlier`: the sends before this command. */
export async function deliver(
  context: Context,
  online: Online,
  { delivery, sources, odd, key }: Ready,
  { earlier, leave }: { earlier: readonly Unfinished[]; leave: boolean },
): Promise<void> {
  const { baton, line, concurrency } = online;
  const { asked, sealer, begun } = delivery;
  const { to, paths, packs, excludes, spool, isPlain, watch } = asked;
  const sends = sendsOf(context);
  const pieces = piecesOf(sources);
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    const pieceKey = `${key}-${index}`;
    const begunBefore = spool === null ? earlier.find((entry) => entry.key === pieceKey) : undefined;
    const before = await unlessPlain({ context, baton, sends }, begunBefore, sealer);
    // All pieces are recorded.
    if (before !== undefined && isLast) await sends.removeBegun(begun.id);
    if (before !== undefined && (await wentOn(context, online, piece, { entry: before, leave }))) continue;
    const about = { key: pieceKey, to, paths, spool, packs, excludes, isPlain, ...(watch !== undefined && { watch }) };
    const parts = { context, baton, sends, sealer, begun, isLast, concurrency };
    const offered = await online.inTurn(() => line.aside(() => offer(parts, piece, about)));
    await follow(context, online, { ...offered, sources: piece, odd: index === 0 ? odd : NOTHING_ODD, leave });
  }
}
