import { cookieSession, type Device, readSignInLink, type SignInRequestView } from '../../../shared/client/index.ts';
import {
  disagreeing,
  fingerprintOfKeys,
  inviteDigits,
  inviteSecretIn,
  keysOf,
  type LinkKey,
  type Member,
  type PublicKeys,
  sealedError,
} from '../../../shared/client/sealed.ts';
import { type KeyRequest, type LetInSettings, readKeyedLink } from '../../../shared/client/sealing.ts';
import { keptWords } from '../kept-words.ts';
import { GRANT, keepKeyState, keepLostAfterReload, keyState, noteWithoutKeys } from './key-state.ts';
import type { OwnRing } from './own-ring.ts';
import { persistKeys } from './stores.ts';

/** A device as the settings list it. */
export interface KeyedDevice {
  readonly device_id: string;
  /** Null: it is no longer signed in. */
  readonly name: string | null;
  /** `guest`: it has its own keys, and no key of the account. Null: it has no keys. */
  readonly kind: string | null;
  readonly fingerprint: string | null;
  readonly isMember: boolean;
}

async function fingerprintOf(keys: PublicKeys): Promise<string> {
  const bytes = Array.from(await fingerprintOfKeys(keys), (byte) => byte.toString(16).padStart(2, '0'));
  return (bytes.join('').match(/.{4}/g) ?? []).join(' ');
}

async function shownMember({ device_id, kind, enc, sig }: Member, devices: readonly Device[]): Promise<KeyedDevice> {
  const name = devices.find((each) => each.device_id === device_id)?.name ?? null;
  return { device_id, kind, isMember: true, name, fingerprint: await fingerprintOf({ enc, sig }) };
}

/** A device with keys whose place another one takes. */
export interface ReplacedDevice {
  /** As the service lists it. */
  readonly name: string;
  readonly fingerprint: string;
  readonly sig: string;
}

/** Lets devices in. */
function makeLettingIn(ring: OwnRing) {
  async function letIn(link: string, key: LinkKey, access: LetInSettings): Promise<string> {
    const found = readSignInLink(link);
    if (found === null) throw sealedError('bad_code');
    const { checkCode, keyring, endsWithSession } = await ring.sealing().linking.letIn(found, key, access);
    ring.take(keyring);
    // The event of that change brings the list again. Without the change the keys end at the usual time.
    void endsWithSession().catch(() => {});
    return checkCode;
  }
  return {
    /**
     * Lets a device in with this access: with the key of the account, or as a guest. Returns the digits that both devices
     * show.
     */
    async letIn(link: string, access: LetInSettings = {}): Promise<string> {
      const key = readKeyedLink(link)?.key ?? null;
      if (key === null) throw sealedError('bad_code');
      return letIn(link, key, access);
    },

    /** Returns the device whose place the asking one takes; null: it takes nobody's place. */
    async replaced(view: Pick<SignInRequestView, 'device_id' | 'keys'>): Promise<ReplacedDevice | null> {
      const found = await ring.sealing().linking.replaced(view);
      if (found === null) return null;
      const listed = (await ring.devices()).find(({ device_id }) => device_id === found.device_id);
      return { name: listed?.name ?? found.device_id, fingerprint: await fingerprintOf(found), sig: found.sig };
    },

    /** Returns the digits that an invited device with these keys shows. */
    invitedDigits: (secret: string, keys: PublicKeys, requestId: string): Promise<string> =>
      inviteDigits(inviteSecretIn(`1.${secret}`), keys, requestId),

    /** Does as `letIn` does, for an invited device whose digits were typed here. */
    async letInInvited(link: string, access: LetInSettings, secret: string, keys: PublicKeys): Promise<string> {
      const key = { fingerprint: await fingerprintOfKeys(keys), secret: inviteSecretIn(`1.${secret}`) };
      return letIn(link, key, access);
    },
  };
}

async function createRing(ring: OwnRing, anew: boolean): Promise<void> {
  const before = keyState.peek();
  keepLostAfterReload();
  try {
    ring.take(await ring.sealing().rings.create({ kind: 'web', anew }));
  } catch (error) {
    // It may be there although the response was lost, so that the next message asks.
    noteWithoutKeys('');
    keepKeyState(before);
    throw error;
  }
}

/** Changes which devices of the account have keys. */
export const makeKeyAccount = (ring: OwnRing) => ({
  ...makeLettingIn(ring),

  isEncrypted: (): Promise<boolean> => ring.sealing().rings.isEncrypted(),

  /** Lists the devices with keys, and those without. */
  async devices(): Promise<KeyedDevice[]> {
    const [keyring, devices] = [await ring.current(), await ring.devices()];
    const { members } = keyring.ring.body;
    const keyed = members.map((member) => shownMember(member, devices));
    const ids = new Set(members.map(({ device_id }) => device_id));
    const others = devices
      .filter(({ device_id }) => !ids.has(device_id))
      .map(async ({ device_id, name }) => {
        const about = { device_id, name, isMember: false };
        const keys = keysOf(keyring, device_id, Date.now());
        if (keys === null) return { ...about, kind: null, fingerprint: null };
        return { ...about, kind: 'guest', fingerprint: await fingerprintOf(keys) };
      });
    return Promise.all([...keyed, ...others]);
  },

  /** Lists the devices that name a ring which this browser does not have. */
  async disagreeing(): Promise<KeyedDevice[]> {
    // Only `takeGrant` of this browser takes an approval, because the digits are to be compared.
    if (keyState.peek().kind !== 'keyed' || keptWords.get(GRANT) !== null) return [];
    const [keyring, devices] = [await ring.sealing().rings.known(), await ring.devices()];
    return Promise.all((keyring === null ? [] : disagreeing(keyring)).map((member) => shownMember(member, devices)));
  },

  /** Makes the key of the account. `anew`: the service no longer has any, and this browser forgets its own. */
  async create({ anew = false } = {}): Promise<void> {
    persistKeys();
    const session = await cookieSession().load();
    // From now on the ring may name this device before its state says so.
    noteWithoutKeys(session?.device?.device_id ?? '');
    await createRing(ring, anew);
    keepKeyState({ kind: 'keyed' });
  },

  /**
   * Removes all keys of the account, and makes new ones. Without the second step the service has no keys, and the app says
   * so.
   */
  async startAnew(): Promise<void> {
    await ring.sealing().deletions.removeKeys();
    ring.take(await ring.sealing().rings.create({ kind: 'web', anew: true }));
    // A part that asked between the two steps found no keys, and noted that.
    keepKeyState({ kind: 'keyed' });
  },

  announceRemoval: () => ring.sealing().deletions.announceRemoval(),
  pendingDeletions: () => ring.sealing().deletions.pending(),
  keepKeys: () => ring.sealing().deletions.keepKeys(),
  eraseAccount: () => ring.sealing().deletions.eraseAccount(),

  /** Asks for keys, as a browser that is signed in. */
  async ask(signal: AbortSignal): Promise<KeyRequest> {
    persistKeys();
    return ring.sealing().linking.askForKeys({ signal });
  },

  /** Notes that a device was removed or logged out: nothing is sealed until a ring without it. */
  async noteRemoved(id: string): Promise<void> {
    await ring.sealing().rings.noteRemoved(id);
    ring.forget();
  },

  /** Returns the members to take out of the ring: removed, logged out, or not listed for 90 days. */
  async leaving(devices: readonly Device[]): Promise<string[]> {
    return ring.sealing().rings.noteListed(await ring.current(), devices);
  },

  /** Replaces the key of the account, so that these devices read nothing that is sealed from now on. */
  async remove(ids: readonly string[]): Promise<void> {
    ring.take(await ring.sealing().linking.remove(ids));
  },
});
