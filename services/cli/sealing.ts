import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { leanFetch, sealingFiles } from '../../shared/client/node.ts';
import type { Keyring } from '../../shared/client/sealed.ts';
import type { Sealing } from '../../shared/client/sealing.ts';
import type { Context } from './context.ts';

/*
 * What encrypts is loaded where this device has keys, or gets some: a device without them works as it did before there were any.
 */

const FILES = ['keys.json', 'grant.json'];

/** Where this device keeps its keys. */
export const sealingFilesOf = ({ settings }: Pick<Context, 'settings'>) => sealingFiles(settings.folder);

/** Sealing at this address, whether this device has keys or not. */
export async function sealingAt(context: Pick<Context, 'settings' | 'session'>, url: string): Promise<Sealing> {
  const { makeSealing } = await import('../../shared/client/sealing.ts');
  const { session } = context;
  return makeSealing({ baseUrl: url, session, fetch: leanFetch, ...sealingFilesOf(context) });
}

/** Whether there is anything on this device that could seal. */
export const hasFiles = ({ settings }: Pick<Context, 'settings'>): boolean =>
  FILES.some((name) => existsSync(join(settings.folder, name)));

/** A device that belongs to the ring of its account. */
export interface Keyed {
  readonly sealing: Sealing;
  readonly keyring: Keyring;
}

/** The ring as the service has it now; null where this device has no keys in its account. */
export async function keyedAt(context: Pick<Context, 'settings' | 'session'>, url: string): Promise<Keyed | null> {
  if (!hasFiles(context)) return null;
  const sealing = await sealingAt(context, url);
  const keyring = await sealing.rings.current();
  return keyring === null ? null : { sealing, keyring };
}

/** Removes the keys of this device: whoever has them is this device. */
export async function removeKeys(context: Pick<Context, 'settings'>): Promise<void> {
  if (!hasFiles(context) && !existsSync(join(context.settings.folder, 'asking-keys.json'))) return;
  const { keys, asking, grant } = sealingFilesOf(context);
  for (const store of [grant, asking, keys]) await store.clear();
}

/** Marks what nobody but the devices of the account could read. */
export const LOCK = '\u{1F512}';
/** Said of what anybody could have read, and written, who runs the service. */
export const NOT_ENCRYPTED = 'not encrypted: the service could have written this';
