import { readdir } from 'node:fs/promises';
import type { Claim } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import { makeUnfinishedSends, sendsFolderIn, type UnfinishedSends } from '../unfinished.ts';

/** Returns the folder with the records of what this device sends. */
export const folderOf = ({ settings }: Pick<Context, 'settings'>): string => sendsFolderIn(settings);

/** Returns the records of what this device sends. */
export function sendsOf(context: Pick<Context, 'settings'>): UnfinishedSends {
  const folder = folderOf(context);
  return makeUnfinishedSends(folder, () => readdir(folder).catch(() => []));
}

/**
 * Does `work` with the claim of a send. Resolves to false if another program has the claim. `work` removes the claim of a
 * send that is over. In every other case the claim is free afterwards, even if `work` fails, because the next look needs it.
 */
export async function withClaim(
  sends: UnfinishedSends,
  id: string,
  work: (claim: Claim) => Promise<void>,
): Promise<boolean> {
  const claim = sends.claim(id);
  if (claim === null) return false;
  try {
    await work(claim);
  } finally {
    claim.release();
  }
  return true;
}
