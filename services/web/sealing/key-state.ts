import { signal } from '@preact/signals';
import { deleteDB } from 'idb';
import { keptWords } from '../kept-words.ts';
import { inLock } from '../locks.ts';
import { answered } from '../open-database.ts';
import { DATABASES } from './databases.ts';

/*
 * The keys of this browser, as the rest of the app knows them. The code that seals is several times as large as this, and
 * is loaded if this browser has keys, or gets some.
 */
export type KeyState = (
  | { kind: 'none' }
  /** Linked, and the user has not compared the check code yet. Nothing is sealed or opened. */
  | { kind: 'unconfirmed'; code: string; approver: string; isNew: boolean }
  | { kind: 'keyed' }
  /** This browser had keys, and they are gone or belong to an earlier device. Nothing is sent until the user decides. */
  | { kind: 'lost' }
) & {
  /** True: this browser is a guest. It has only its own keys, and they end with its session. */
  isGuest?: boolean | undefined;
};

const STATE = 'baton-keys';
export const GRANT = 'baton-grant';

function kept(): KeyState {
  try {
    return (JSON.parse(keptWords.get(STATE) ?? 'null') as KeyState | null) ?? { kind: 'none' };
  } catch {
    return { kind: 'lost' };
  }
}

export const keyState = signal<KeyState>(kept());
addEventListener('storage', ({ key }) => {
  if (key === null || key === STATE) keyState.value = kept();
});

/** Notes the state for all tabs, and over a reload. */
export function keepKeyState(state: KeyState): void {
  keptWords.set(STATE, state.kind === 'none' ? null : JSON.stringify(state));
  keyState.value = state;
}

/** Notes for a reload, and for the other tabs, that what is sent waits: the ring may name this device before this tab knows. */
export const keepLostAfterReload = (): void =>
  keptWords.set(STATE, JSON.stringify({ kind: 'lost' } satisfies KeyState));

const WITHOUT = 'baton-without-keys';

/** Notes that this device had no keys when it was asked last. A browser whose storage was cleared does not have the note. */
export const noteWithoutKeys = (deviceId: string): void => keptWords.set(WITHOUT, deviceId);
export const isKnownWithoutKeys = (deviceId: string): boolean => keptWords.get(WITHOUT) === deviceId;

/** Goes on without keys, because the user has said so. */
export function goOnWithoutKeys(deviceId: string): void {
  noteWithoutKeys(deviceId);
  keepKeyState({ kind: 'none' });
}

/** The ids of the devices with keys, guests among them, as far as they are known here; null without keys. */
export const members = signal<ReadonlySet<string> | null>(null);

const OWNER = 'baton-keys-of';

/** Returns the account whose keys this browser has; null: nobody has claimed them. */
export const keysOwner = (): string | null => keptWords.get(OWNER);

/** Longer than it takes to find that the holder of a lock does not move. */
const LOCKED_WITHIN_MS = 10_000;

/**
 * Removes a database in the lock of its store, so that no read of the rings that is under way writes the keys back. The wait
 * for the lock ends, because a later removal could take the keys of a new session.
 */
const removeDatabase = (name: string): Promise<void> =>
  inLock(name, () => answered(deleteDB(name)), { signal: AbortSignal.timeout(LOCKED_WITHIN_MS) });

/** Removes the keys of an earlier account, whose session expired here. A grant is kept, because it is for the new one. */
export async function claimKeys(account: string): Promise<void> {
  const owner = keptWords.get(OWNER);
  keptWords.set(OWNER, account);
  if (owner === null || owner === account) return;
  keepKeyState({ kind: 'none' });
  await removeDatabase(DATABASES.keys).catch(() => {});
}

/**
 * Removes the keys of this browser, because anybody who has them can act as this device. `lost`: what waits to be sent goes
 * on waiting; otherwise it would be sent without encryption. Resolves to whether all of them are gone.
 */
export async function dropKeys(then: KeyState = { kind: 'none' }): Promise<boolean> {
  keptWords.set(GRANT, null);
  // Otherwise the owner stays known, because unsent messages wait for that account.
  if (then.kind === 'none') keptWords.set(OWNER, null);
  keepKeyState(then);
  const removed = await Promise.allSettled(Object.values(DATABASES).map(removeDatabase));
  return removed.every(({ status }) => status === 'fulfilled');
}
