import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { leanFetch } from '../../shared/client/node.ts';
import type { Keyring } from '../../shared/client/sealed/keyring.ts';
import type { Sealing } from '../../shared/client/sealing/sealing.ts';
import type { Context } from './context.ts';

/*
 * What encrypts is loaded where this device has keys, or gets some: a device without them works as it did before there were any.
 */

const FILES = ['keys.json', 'grant.json'];

/** Where this device keeps its keys. */
export async function sealingFilesOf({ settings }: Pick<Context, 'settings'>) {
  const { sealingFiles } = await import('../../shared/client/node/sealing.ts');
  return sealingFiles(settings.folder);
}

/** Sealing at this address, whether this device has keys or not. */
export async function sealingAt(context: Pick<Context, 'settings' | 'session'>, url: string): Promise<Sealing> {
  const { makeSealing } = await import('../../shared/client/sealing/sealing.ts');
  const { session } = context;
  return makeSealing({ baseUrl: url, session, fetch: leanFetch, ...(await sealingFilesOf(context)) });
}

/** Whether there is anything on this device that could seal. */
const hasFiles = ({ settings }: Pick<Context, 'settings'>): boolean =>
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
  const { keys, asking, grant } = await sealingFilesOf(context);
  for (const store of [grant, asking, keys]) await store.clear();
}

/** Marks what nobody but the devices of the account could read. */
export const LOCK = '\u{1F512}';
/** Said of what anybody could have read, and written, who runs the service. */
export const NOT_ENCRYPTED = 'not encrypted: the service could have written this';
