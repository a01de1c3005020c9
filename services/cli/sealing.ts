import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatonClient, SessionStore, SignedOutReason } from '../../shared/client/index.ts';
import { leanFetch, sealingFiles, sha256 } from '../../shared/client/node.ts';
import type { Keyring } from '../../shared/client/sealed.ts';
import type { Sealing } from '../../shared/client/sealing.ts';
import { tellAnnounced, wasAsked } from './announced.ts';
import { refuseUncompared } from './digits.ts';
import { CliError, EXIT } from './failure.ts';
import type { Output } from './output.ts';
import { type Settings, writePrivately } from './settings.ts';
import { forgetWithoutKeys, isKnownWithoutKeys, noteWithoutKeys } from './without-keys.ts';

/* The code that encrypts is loaded only if this device has keys, or gets some. A device without keys works without it. */

const FILES = ['keys.json', 'grant.json'];

/** The part of a command's context that belongs only to this device. */
interface Own {
  readonly settings: Settings;
  readonly session: SessionStore;
}

/** The same, with the notes to the user. */
interface Told extends Own {
  readonly output: Pick<Output, 'note'>;
}

function makeFiles(settings: Settings) {
  const forgetFirst =
    <Given extends unknown[]>(work: (...given: Given) => Promise<void>) =>
    async (...given: Given): Promise<void> => {
      await forgetWithoutKeys(settings);
      await work(...given);
    };
  const { keys, asking, grant, ...others } = sealingFiles(settings.folder);
  const saveKeys: typeof keys.save = async (record) => {
    await forgetFirst(keys.save)(record);
    if (record.account !== null) await forgetErasedKeys(settings);
  };
  return {
    ...others,
    keys: { ...keys, save: saveKeys, clear: forgetFirst(keys.clear) },
    asking: { ...asking, save: forgetFirst(asking.save), clear: forgetFirst(asking.clear) },
    grant: { ...grant, save: forgetFirst(grant.save), clear: forgetFirst(grant.clear) },
  };
}

const made = new WeakMap<Settings, ReturnType<typeof makeFiles>>();

/**
 * Returns the stores of this device's keys. Before each change they drop the kept answer that this device has no keys,
 * because the account names a device from its approval on, even if the device never takes the keys. A command makes the
 * stores only once, because notes that a full disk keeps from being saved are remembered for each store object.
 */
export function sealingFilesOf({ settings }: Pick<Own, 'settings'>): ReturnType<typeof makeFiles> {
  const files = made.get(settings) ?? makeFiles(settings);
  made.set(settings, files);
  return files;
}

/** The listeners of each session. A call of sealing may hear that the session is over, and the command's client then does not. */
const endListeners = new WeakMap<SessionStore, (reason: SignedOutReason) => void>();

export const onSealingEnded = (session: SessionStore, tell: (reason: SignedOutReason) => void): void =>
  void endListeners.set(session, tell);

/** Makes sealing for this address, whether this device has keys or not. It takes no approval: `rings.takeGrant` does. */
export async function sealingAt(context: Own, url: string): Promise<Sealing> {
  const { makeSealing } = await import('../../shared/client/sealing.ts');
  const { session } = context;
  const onEnded = (reason: SignedOutReason) => endListeners.get(session)?.(reason);
  const options = { baseUrl: url, session, sha256, fetch: leanFetch, confirm: refuseUncompared, onEnded };
  return makeSealing({ ...options, ...sealingFilesOf(context) });
}

/** Tells whether this device has files for sealing. */
const hasFiles = ({ settings }: Pick<Own, 'settings'>): boolean =>
  FILES.some((name) => existsSync(join(settings.folder, name)));

/** A device that belongs to the ring of its account. */
export interface Keyed {
  readonly sealing: Sealing;
  readonly keyring: Keyring;
}

/** Tells whether this device has the key of the account. A guest has only its own keys. */
export const isMember = ({ keyring: { ring, device_id: own } }: Pick<Keyed, 'keyring'>): boolean =>
  ring.body.members.some(({ device_id }) => device_id === own);

async function keyedBy(context: Told, url: string, read: 'current' | 'known'): Promise<Keyed | null> {
  if (!hasFiles(context)) return null;
  const sealing = await sealingAt(context, url);
  const keyring = await sealing.rings[read]();
  tellAnnounced(context.output, sealing.deletions.announced());
  return keyring === null ? null : { sealing, keyring };
}

/**
 * Returns the ring as the service has it now; null if this device has no keys in its account. Tells the user if the keys
 * are about to be removed.
 */
export const keyedAt = (context: Told, url: string): Promise<Keyed | null> => keyedBy(context, url, 'current');

/** Returns the ring even if devices disagree, for a command that removes one of them or links it again. */
export const keyedToMend = (context: Told, url: string): Promise<Keyed | null> => keyedBy(context, url, 'known');

/** Throws `digits_not_compared` if an approval is kept: its user does not know yet whose account this is. */
export async function checkCompared(context: Told, url: string): Promise<void> {
  if (existsSync(join(context.settings.folder, 'grant.json'))) await keyedToMend(context, url);
}

/** The advice to a device that has lost its keys. */
export const NEW_KEYS = '`baton keys link` or `baton keys recover` gets new keys';

/** Keeps the answer that this device has no keys, unless it has got keys since the service was asked. */
async function keepWithout(context: Own, deviceId: string): Promise<void> {
  const { keys, grant } = sealingFilesOf(context);
  await keys.lock(async () => {
    const isLinked = ((await keys.load())?.account ?? null) !== null || (await grant.load()) !== null;
    if (!isLinked) await noteWithoutKeys(context.settings, deviceId);
  });
}

/**
 * Returns how a device without keys in its account lost them; null if it never had any. The service is asked once whether
 * the account names this device among those with keys. If it does not answer, throws the error of that request.
 */
export async function howKeysWereLost(context: Own, url: string): Promise<string | null> {
  if (await hadKeys(context.settings)) return 'The keys of this device belong to an earlier sign-in';
  if (existsSync(erasedPathIn(context.settings))) return 'The keys of this device were erased when it was removed';
  const deviceId = (await context.session.load())?.device?.device_id;
  if (deviceId === undefined || (await isKnownWithoutKeys(context.settings, deviceId))) return null;
  const { rings } = await sealingAt(context, url);
  if (await rings.namesThisDevice()) return 'The keys of this device are gone';
  // If the folder cannot be written, the next command asks again.
  await keepWithout(context, deviceId).catch(() => {});
  return null;
}

async function readWhetherExpected(context: Own, url: string): Promise<boolean> {
  if ((await howKeysWereLost(context, url)) === null) return false;
  // Keys of an earlier sign-in say nothing of an account that is not encrypted.
  return (await sealingAt(context, url)).rings.isEncrypted();
}

const expected = new WeakMap<Settings, Promise<boolean>>();

/**
 * Tells whether the user of this device expects encryption, because it has keys or has lost them. A command asks the service
 * once, however much it shows.
 */
export async function expectsEncryption(context: Own, url: string, keyed: Keyed | null): Promise<boolean> {
  if (keyed !== null) return true;
  const asked = expected.get(context.settings) ?? readWhetherExpected(context, url);
  expected.set(context.settings, asked);
  return asked.catch((error: unknown) => {
    expected.delete(context.settings);
    throw error;
  });
}

/**
 * Returns the ring for content that this device sends; null if it never had keys. Throws `keys_lost` if its keys are
 * gone or belong to an earlier sign-in, because the user expects encryption.
 */
export async function keyedToSend(context: Told, url: string): Promise<Keyed | null> {
  const keyed = await keyedAt(context, url);
  if (keyed !== null) return keyed;
  const lost = await howKeysWereLost(context, url);
  if (lost === null) return null;
  const says = `${lost}, so nothing was sent. ${NEW_KEYS}; \`--plain\` sends without encryption.`;
  throw new CliError(says, { status: EXIT.refused, code: 'keys_lost' });
}

/**
 * Notes beside the keys which devices are removed or log out while the command is connected. So neither this nor a
 * later command seals for them. The returned function resolves when all of this is noted. A device whose session
 * expired keeps its place.
 */
export function noteRemovals(context: Own, baton: BatonClient, url: string): () => Promise<void> {
  let noted = Promise.resolve();
  const note = async (deviceId: string): Promise<void> => {
    if (hasFiles(context)) await (await sealingAt(context, url)).rings.noteRemoved(deviceId);
  };
  baton.on('event', ({ name, data }) => {
    const { device_id: id, reason } = (data ?? {}) as { device_id?: string; reason?: string };
    if (name !== 'device:removed' || id === undefined || reason === 'expired') return;
    // A device without keys in the ring has nothing to note.
    noted = noted.then(() => note(id)).catch(() => {});
  });
  return () => noted;
}

/**
 * Tells the user of a connected command if keys are about to be removed: once it is connected, unless the command has
 * asked before, and whenever the keys of the account change. Returns a function that ends this.
 */
export function followAnnounced(context: Told, baton: BatonClient, url: string): () => void {
  const ends = new AbortController();
  const tell = async (): Promise<void> => {
    if (!hasFiles(context)) return;
    const { deletions } = await sealingAt(context, url);
    tellAnnounced(context.output, await deletions.pending({ signal: ends.signal }));
  };
  // The next change of the keys, and the next command, tell again.
  const tellSoon = (): void => void tell().catch(() => {});
  baton.on('state', (state) => {
    if (state === 'online' && !wasAsked(context.output)) tellSoon();
  });
  baton.on('event', ({ name }) => {
    if (name === 'keys') tellSoon();
  });
  return () => ends.abort();
}

/** Returns the ring as the service has it now. Throws `unkeyed` if this device has no keys. */
export async function keyedOnly(context: Told, url: string, read = keyedAt): Promise<Keyed> {
  const keyed = await read(context, url);
  if (keyed !== null) return keyed;
  throw new CliError('This device has no keys. `baton keys` says what to do.', { code: 'unkeyed' });
}

/** Returns the fingerprint of the keys of a device, as people compare it. */
export async function fingerprintOf(own: { enc: string; sig: string }): Promise<string> {
  const { fingerprintOfKeys } = await import('../../shared/client/sealed.ts');
  const hex = Buffer.from(await fingerprintOfKeys(own)).toString('hex');
  return (hex.match(/.{4}/g) ?? []).join(' ');
}

const accountIn = async (settings: Settings) =>
  hasFiles({ settings }) ? ((await sealingFilesOf({ settings }).keys.load())?.account ?? null) : null;

/** Tells whether there are keys that have belonged to an account. */
export const hadKeys = async (settings: Settings): Promise<boolean> => (await accountIn(settings)) !== null;

/** Tells whether the keys, if there are any, are those of this device. Keys that cannot be read are. */
export async function keysAreOf(settings: Settings, deviceId: string | null): Promise<boolean> {
  const account = await accountIn(settings).catch(() => null);
  return account === null || deviceId === null || account.device_id === deviceId;
}

/** The note that keys were erased, until this computer has new ones: what it sends must not go out unencrypted unasked. */
const erasedPathIn = ({ folder }: Settings): string => join(folder, 'erased-keys.json');

/** Notes that the keys of a removed device were erased. */
export const noteErasedKeys = (settings: Settings): Promise<void> =>
  writePrivately(erasedPathIn(settings), { erased_at: Date.now() });

/** Drops that note, when there are new keys or the user has signed out: the next account may be another one. */
export const forgetErasedKeys = (settings: Settings): Promise<void> => rm(erasedPathIn(settings), { force: true });

/** Removes the keys of this device, because anybody who has them can act as this device. */
export async function removeKeys(context: Pick<Own, 'settings'>): Promise<void> {
  await forgetWithoutKeys(context.settings);
  if (!hasFiles(context) && !existsSync(join(context.settings.folder, 'asking-keys.json'))) return;
  const { keys, asking, grant } = sealingFilesOf(context);
  for (const store of [grant, asking, keys]) await store.clear();
}

/** Marks content that only the devices of the account can read. */
export const LOCK = '\u{1F512}';
/** The note on content that the operator of the service could have read and written. */
export const NOT_ENCRYPTED = 'not encrypted: the service could have written this';
/** The note on content of a removed device, which this device can open for as long as it keeps the replaced key. */
export const LEFT = 'does not belong to the account any more';
