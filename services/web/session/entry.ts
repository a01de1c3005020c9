import {
  BatonClientError,
  cookieSession,
  makeBatonClient,
  type SessionStore,
  startDeviceSession,
} from '../../../shared/client/index.ts';
import { leanFetch } from '../files/lean-fetch.ts';
import { appPaths } from '../files/paths.ts';
import { developmentHeaders, developmentIdentity, keepDevelopmentIdentity } from './development.ts';
import { keptWords } from '../kept-words.ts';
import { newId } from '../../../shared/client/new-id.ts';
import { noteWithoutKeys } from '../sealing/key-state.ts';
import { timedFetch } from '../server-time.ts';

/**
 * The state of a user who opens the app. `nameless`: signed in, but this browser is not a device of the account yet. `out`
 * tells how to sign in here: at the auth broker, by a bare name (development), or not in a browser at all.
 */
export type Entry =
  /** `guestUntil`: when the session of a guest ends, by the service's clock; null for everybody else. */
  | { kind: 'in'; userId: string; userName: string; deviceId: string; deviceName: string; guestUntil: number | null }
  | { kind: 'nameless'; userName: string }
  | { kind: 'out'; login: 'broker' | 'development' | 'none' }
  | { kind: 'unreachable' };

export type SignedIn = Extract<Entry, { kind: 'in' }>;

const WITHIN_MS = 10_000;

/** Returns the session store of this browser; null if every request carries the identity, so that there is no session. */
const sessionStore = (): SessionStore | null => (developmentIdentity() === null ? cookieSession() : null);

/** Makes a client without a stream, for calls of this tab. */
export function makeClient() {
  const store = sessionStore();
  const parts = { baseUrl: '', headers: developmentHeaders, fetch: leanFetch, peerToPeer: appPaths() };
  return makeBatonClient({ ...parts, ...(store !== null && { session: store }) });
}

/** Returns how users sign in at this installation, which its page states. */
function loginHere(): 'broker' | 'development' | 'none' {
  const said = document.querySelector<HTMLMetaElement>('meta[name="baton-login"]')?.content;
  return said === 'broker' || said === 'development' ? said : 'none';
}

/** Returns the last known entry of this browser, which is shown at once, and without network. */
async function remembered(): Promise<Entry | null> {
  const development = developmentIdentity();
  if (development !== null && development.deviceId !== '') {
    const { user, deviceId, name } = development;
    return { kind: 'in', userId: user, userName: user, deviceId, deviceName: name, guestUntil: null };
  }
  const session = await cookieSession().load();
  if (session === null || session.device === null) return null;
  const { device, user, scope, session_expires_at: endsAt } = session;
  return {
    kind: 'in',
    ...{ userId: user.user_id, userName: user.name, deviceId: device.device_id, deviceName: device.name },
    guestUntil: scope === 'guest' ? endsAt : null,
  };
}

/** Tells whether this browser still has this session. False: it was signed out since, or belongs to another user now. */
export async function isStillHere({ userId, deviceId }: SignedIn): Promise<boolean> {
  const now = await remembered();
  return now?.kind === 'in' && now.userId === userId && now.deviceId === deviceId;
}

/** Resolves to whether this browser has a session other than this one; false if nobody is signed in. */
export async function isOthers(entry: SignedIn): Promise<boolean> {
  return (await remembered()) !== null && !(await isStillHere(entry));
}

async function askService(): Promise<Entry> {
  const client = makeBatonClient({ baseUrl: '', headers: developmentHeaders, fetch: timedFetch });
  const { device, name } = await client.me({ signal: AbortSignal.timeout(WITHIN_MS) });
  if (device === null) return { kind: 'nameless', userName: name };
  // The cookie belongs to a device that this browser forgot. The browser becomes that device again, and gets the rest of its
  // session.
  await startDeviceSession({
    ...{ baseUrl: '', deviceId: device.device_id, deviceName: device.name, deviceType: device.type },
    session: cookieSession(),
  });
  return (await remembered()) ?? { kind: 'nameless', userName: name };
}

/** Set while the user is at the login, so that the page asks only after a return from it. */
const LOGGING_IN = 'baton-logging-in';

export async function findEntry(): Promise<Entry> {
  const known = await remembered();
  if (known !== null) return known;
  const isExpected = keptWords.get(LOGGING_IN) !== null || developmentIdentity() !== null;
  if (!isExpected) return { kind: 'out', login: loginHere() };
  try {
    return await askService();
  } catch (error) {
    if (!(error instanceof BatonClientError) || error.action !== 'sign-in') return { kind: 'unreachable' };
    keepDevelopmentIdentity(null);
    keptWords.set(LOGGING_IN, null);
    return { kind: 'out', login: loginHere() };
  }
}

/** Goes to the login page of the auth broker, which leads back to this page. */
export function goToLogin(): void {
  keptWords.set(LOGGING_IN, 'yes');
  location.assign('/api/auth/login?return_to=/');
}

/** Signs in for development, in which every name is accepted. */
export function enterAs(user: string): void {
  keepDevelopmentIdentity({ user, deviceId: '', name: '' });
}

/** Makes this browser a device of the signed-in user. */
export async function becomeDevice(name: string): Promise<Entry> {
  const development = developmentIdentity();
  if (development !== null) {
    keepDevelopmentIdentity({ ...development, deviceId: newId(), name });
    await makeClient().me();
  } else {
    const deviceId = newId();
    const { device } = await startDeviceSession({
      ...{ baseUrl: '', deviceId, deviceName: name, deviceType: 'browser' },
      session: cookieSession(),
    });
    // An id that was just made here cannot have keys yet, so the service is not asked for them.
    if (device?.device_id === deviceId) noteWithoutKeys(deviceId);
  }
  keptWords.set(LOGGING_IN, null);
  return findEntry();
}
