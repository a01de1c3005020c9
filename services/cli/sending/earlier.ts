import { isDeepStrictEqual } from 'node:util';
import type { BatonClient } from '../../../shared/client/index.ts';
import { comparedWith } from '../away.ts';
import type { Context } from '../context.ts';
import type { Unfinished, UnfinishedSends } from '../unfinished.ts';
import type { Sealer } from './sealer.ts';
import { CliError, EXIT, failureOf } from '../failure.ts';
import { namesOf } from '../receiving/names.ts';
import { checkCompared, keyedToSend } from '../sealing.ts';
import type { Online } from './online.ts';
import { withClaim } from './sends.ts';
import { namesOfAsked, OVER } from './unsent.ts';

interface Parts {
  context: Context;
  baton: BatonClient;
  sends: UnfinishedSends;
}

/** Cancels a transfer that nobody can resume, so that the receiver need not wait. */
export async function giveUp({ context, baton, sends }: Parts, entry: Unfinished): Promise<void> {
  await baton.transfers
    .cancel(entry.transferId, 'source_failed', { signal: context.signal })
    .catch((error: unknown) => {
      if (!OVER.includes(failureOf(error).code)) throw error;
    });
  await sends.remove(entry.transferId);
}

/** Drops earlier sends of files that have changed since, because they cannot be resumed. */
export async function dropChanged(
  parts: Parts,
  { to, paths, excludes }: Pick<Unfinished, 'to' | 'paths'> & { excludes: readonly string[] },
  key: string,
): Promise<void> {
  const { context, sends } = parts;
  for (const entry of await sends.list()) {
    const isSame =
      entry.to === to &&
      entry.spool === null &&
      isDeepStrictEqual([entry.paths, entry.excludes ?? []], [paths, excludes]);
    if (!isSame || entry.key.startsWith(`${key}-`)) continue;
    await withClaim(sends, entry.transferId, async (claim) => {
      context.output.note('The files have changed since this was interrupted. They are sent anew.');
      await giveUp(parts, entry);
      claim.remove();
    });
  }
}

/** Drops an earlier send that was not sealed, if these files are sealed now. */
export async function unlessPlain(
  parts: Parts,
  entry: Unfinished | undefined,
  { isSealed }: Sealer,
): Promise<Unfinished | undefined> {
  if (entry === undefined || !isSealed || entry.sealedKey !== undefined) return entry;
  const isGivenUp = await withClaim(parts.sends, entry.transferId, async (claim) => {
    parts.context.output.note('This was begun without encryption. It is sent anew.');
    await giveUp(parts, entry);
    claim.remove();
  });
  return isGivenUp ? undefined : entry;
}

/**
 * Refuses an earlier send, and tells its user, if a new send of the same files would be refused. A send that was begun
 * without encryption, and would be encrypted now, goes on only if its user has said so, with `isPlain` or when it was
 * begun.
 */
export async function checkMayGoOn(
  context: Context,
  { baton, url }: Pick<Online, 'baton' | 'url'>,
  entry: Unfinished,
  isPlain: boolean,
): Promise<void> {
  if (isPlain || entry.isPlain === true) return checkCompared(context, url);
  const known = await keyedToSend(context, url);
  if (known === null) return;
  const notSent = namesOfAsked(entry);
  if (entry.sealedKey === undefined) {
    const message = `This was begun without encryption, and the account is encrypted now: ${namesOf(notSent)}. Send it again, or say \`baton send --continue --plain\`.`;
    throw new CliError(message, { status: EXIT.refused, code: 'not_encrypted', notSent });
  }
  const devices = await baton.devices.list({ signal: context.signal });
  const { sealing, keyring } = await comparedWith(context, known, devices);
  try {
    sealing.files.check(keyring, entry.to);
  } catch (error) {
    const { message, status, code } = failureOf(error);
    throw new CliError(`${message}. Not sent: ${namesOf(notSent)}.`, { status, code, notSent });
  }
}
