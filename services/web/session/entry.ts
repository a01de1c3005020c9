import {
  BatonClientError,
  cookieSession,
  makeBatonClient,
  type SessionStore,
  startDeviceSession,
} from '../../../shared/client/index.ts';
import { developmentHeaders, developmentIdentity, keepDevelopmentIdentity } from './development.ts';
import { newId } from '../new-id.ts';

/**
 * Where somebody who opens the app stands. `nameless`: signed in, but this browser is no device of the account yet. `out`
 * says how one signs in here: at the auth broker, by a bare name (development), or not in a browser at all.
 */
export type Entry =
  | { kind: 'in'; userId: string; userName: string; deviceId: string; deviceName: string }
  | { kind: 'nameless'; userName: string }
  | { kind: 'out'; login: 'broker' | 'development' | 'none' }
  | { kind: 'unreachable' };

const WITHIN_MS = 10_000;

/** The session of this browser; null where there is none to keep because every request says who it is. */
const sessionStore = (): SessionStore | null => (developmentIdentity() === null ? cookieSession() : null);

/** A client without a stream, for calls of this tab. */
export function makeClient() {
  const store = sessionStore();
  return makeBatonClient({ baseUrl: '', headers: developmentHeaders, ...(store !== null && { session: store }) });
}

async function loginHere(): Promise<'broker' | 'development' | 'none'> {
  const login = await fetch('/api/auth/login?return_to=/', {
    redirect: 'manual',
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  if (login.type === 'opaqueredirect') return 'broker';
  const asked = await fetch('/api/me', {
    headers: { 'X-Dev-User': 'somebody' },
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  return asked.ok ? 'development' : 'none';
}

/** What was true when this browser was last asked: shown at once, and when there is no network. */
async function remembered(): Promise<Entry | null> {
  const development = developmentIdentity();
  if (development !== null && development.deviceId !== '') {
    const { user, deviceId, name } = development;
    return { kind: 'in', userId: user, userName: user, deviceId, deviceName: name };
  }
  const session = await cookieSession().load();
  if (session === null || session.device === null) return null;
  const { device, user } = session;
  return {
    kind: 'in',
    ...{ userId: user.user_id, userName: user.name, deviceId: device.device_id, deviceName: device.name },
  };
}

async function askService(): Promise<Entry> {
  const client = makeBatonClient({ baseUrl: '', headers: developmentHeaders });
  const { device, name } = await client.me({ signal: AbortSignal.timeout(WITHIN_MS) });
  if (device === null) return { kind: 'nameless', userName: name };
  // The cookie has a device that this browser forgot: it is that device, and learns the rest of its session.
  await startDeviceSession({
    ...{ baseUrl: '', deviceId: device.device_id, deviceName: device.name, deviceType: device.type },
    session: cookieSession(),
  });
  return (await remembered()) ?? { kind: 'nameless', userName: name };
}

export async function findEntry(): Promise<Entry> {
  const known = await remembered();
  if (known !== null) return known;
  try {
    return await askService();
  } catch (error) {
    if (!(error instanceof BatonClientError) || error.action !== 'sign-in') return { kind: 'unreachable' };
    keepDevelopmentIdentity(null);
    return loginHere().then(
      (login): Entry => ({ kind: 'out', login }),
      (): Entry => ({ kind: 'unreachable' }),
    );
  }
}

/** To the login page of the auth broker, and back to here. */
export function goToLogin(): void {
  location.assign('/api/auth/login?return_to=/');
}

/** Development: whoever says a name is believed. */
export function enterAs(user: string): void {
  keepDevelopmentIdentity({ user, deviceId: '', name: '' });
}

/** Makes this browser a device of whoever is signed in. */
export async function becomeDevice(name: string): Promise<Entry> {
  const development = developmentIdentity();
  if (development !== null) {
    keepDevelopmentIdentity({ ...development, deviceId: newId(), name });
    await makeClient().me();
  } else {
    await startDeviceSession({
      ...{ baseUrl: '', deviceId: newId(), deviceName: name, deviceType: 'browser' },
      session: cookieSession(),
    });
  }
  return findEntry();
}
