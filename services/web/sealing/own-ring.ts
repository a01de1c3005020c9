import { BatonClientError, type BatonClient, cookieSession, type Device } from '../../../shared/client/index.ts';
import { type Keyring, keysOf, memberOf, sealedError } from '../../../shared/client/sealed.ts';
import { makeSealing, type ReceivedText, type Sealing, type TakenTexts } from '../../../shared/client/sealing.ts';
import { shared } from '../engine/shared-state.ts';
import { keptWords } from '../kept-words.ts';
import { inLock } from '../locks.ts';
import { timedFetch } from '../server-time.ts';
import { GRANT, keepKeyState, keyState, members } from './key-state.ts';
import type { Opened } from './receiving.ts';
import { makeStores } from './stores.ts';

/** Takes the keys of an approval if there are any; false: there are none to take. */
async function pinGrant(sealing: Sealing, isNew: boolean): Promise<boolean> {
  const before = keyState.peek();
  // A reload in the middle must not send without encryption what the ring of this browser could seal. Each
  // new state object makes everything that waits for keys try again, so a try that fails must not set the same state again.
  keepKeyState(before.kind === 'lost' ? before : { kind: 'lost' });
  try {
    const linked = await sealing.rings.takeGrant();
    if (linked === null) {
      keepKeyState(before);
      return false;
    }
    const { checkCode: code, approver, keyring } = linked;
    const isGuest = memberOf(keyring.ring, keyring.device_id) === null;
    keepKeyState({ kind: 'unconfirmed', code, approver, isNew, ...(isGuest && { isGuest }) });
    return true;
  } catch (error) {
    if (!(error instanceof BatonClientError) || error.code !== 'bad_grant') throw error;
    keepKeyState(before);
    return false;
  }
}

function note(keyring: Keyring): void {
  const ids = [...keyring.ring.body.members, ...keyring.guests].map(({ device_id }) => device_id);
  members.value = new Set(ids.filter((id) => keysOf(keyring, id, Date.now()) !== null));
}

/** Keeps the keyring that was loaded last, until it is forgotten. */
function makeKnown(load: () => Promise<Keyring>) {
  let known: Promise<Keyring> | null = null;
  let newest: Promise<Keyring> | null = null;
  const forget = (): void => void (known = null);
  return {
    forget,
    current(): Promise<Keyring> {
      if (known !== null) return known;
      const loading = load().then(
        (keyring) => {
          // A later request may have its answer already.
          if (newest === loading) note(keyring);
          return keyring;
        },
        (error: unknown) => {
          if (known === loading) forget();
          throw error;
        },
      );
      known = newest = loading;
      return loading;
    },
    take(keyring: Keyring): void {
      known = newest = Promise.resolve(keyring);
      note(keyring);
    },
    isUsed: (): boolean => newest !== null,
  };
}

/** Keeps the ring of the account as this tab knows it. */
export function makeOwnRing({ client, taken }: { client: BatonClient; taken: TakenTexts }) {
  const stores = makeStores();
  // As the client of the app: a session that was just made does not know its origins yet.
  const make = (): Sealing =>
    makeSealing({ baseUrl: '', session: cookieSession(), fetch: timedFetch, taken, ...stores });
  let sealing = make();

  /**
   * Takes the keys of an approval; false: there are none to take. The user compares the digits before they are used. `isNew`:
   * this browser was signed in by the same approval.
   */
  async function takeGrant(isNew: boolean): Promise<boolean> {
    const isThere = (): boolean => keptWords.get(GRANT) !== null;
    if (!isThere()) return false;
    // Two tabs may take it at once. The second one finds none, and would put back the state that it saw before.
    return inLock('baton-grant', async () => {
      if (!isThere()) return false;
      // The approval has replaced the session.
      sealing = make();
      return pinGrant(sealing, isNew);
    });
  }

  async function load(): Promise<Keyring> {
    await takeGrant(true);
    const { kind, isGuest } = keyState.peek();
    if (kind !== 'keyed') throw sealedError(kind === 'lost' ? 'keys_lost' : 'unkeyed');
    const found = await sealing.rings.current();
    if (found !== null) return found;
    keepKeyState({ kind: 'lost', isGuest });
    throw sealedError('keys_lost');
  }

  /** The keyring in force. It is fetched again after a change, and after each interruption of the stream. */
  const { current, forget, take, isUsed } = makeKnown(load);

  let followed = '';
  shared.subscribe(({ ringNumber, keysHeard, connection, removed }) => {
    const now = `${ringNumber} ${keysHeard} ${connection === 'online'} ${removed}`;
    if (now === followed) return;
    followed = now;
    forget();
    // The tab shows a guest that came or left at once. No ring number changes with it.
    if (isUsed() && connection === 'online' && keyState.peek().kind === 'keyed') void current().catch(() => {});
  });

  return {
    current,
    forget,
    takeGrant,
    sealing: () => sealing,
    take,

    devices: async (): Promise<readonly Device[]> =>
      shared.peek().listed === 'now' ? shared.peek().devices : client.devices.list(),

    /** Opens with the known ring first. Only content under a newer one is worth a request. */
    async opened(open: (keyring: Keyring) => Promise<ReceivedText>): Promise<Opened> {
      const keyring = await current();
      const received = await open(keyring);
      if (received.kind !== 'waits' || received.problem.code !== 'unknown_key') return { received, keyring };
      forget();
      const newer = await current();
      return { received: await open(newer), keyring: newer };
    },
  };
}

export type OwnRing = ReturnType<typeof makeOwnRing>;
