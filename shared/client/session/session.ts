import type { Form } from '../../contract/forms.ts';
import { misfit } from '../http/misfit.ts';
import { parseJson } from '../http/parse-json.ts';
import type { DeviceRef, Persist, Scope, User } from '../wire.ts';

/** A session as it is kept: plain JSON. In a browser the secret is in the cookie, which no script can read. */
export interface Session {
  /** The secret that renews the session; null if a browser's cookie has it. */
  credential: string | null;
  /** Null if the cookie is sent instead. */
  access_token: string | null;
  /** The time of expiry by this machine's clock, in Unix milliseconds. */
  access_token_expires_at: number;
  /** The lifetime of a token. */
  access_token_seconds?: number;
  /**
   * The origins to which this session may be sent. One of an older version has none, and is bound to the first origin at
   * which it is used.
   */
  origins?: readonly string[];
  /** The name of the service. */
  service?: string | undefined;
  /** True: the user allows plain http. */
  plain_http?: boolean | undefined;
  scope: Scope;
  persist: Persist;
  session_expires_at: number;
  /** Null: signed in, but not yet a device (`startDeviceSession` makes one). */
  device: DeviceRef | null;
  user: User;
}

const TEXT = /^[^]{0,8192}$/;

const KEPT: Form = {
  credential: ['n', TEXT],
  access_token: ['n', TEXT],
  access_token_expires_at: ['i'],
  session_expires_at: ['i'],
  'access_token_seconds?': ['i'],
  'origins?': ['a', TEXT],
  'service?': TEXT,
  'plain_http?': true,
  scope: TEXT,
  persist: TEXT,
  device: ['n', { device_id: TEXT }],
  user: { user_id: TEXT },
};

/** Parses a kept session; null if the text is not one. */
export function sessionIn(text: string): Session | null {
  const value = parseJson(text);
  return misfit(KEPT, value) === null ? (value as Session) : null;
}

/** Where a session is kept between two runs. Everything may be asynchronous. */
export interface SessionStore {
  /** Returns the last saved session; null before the first, or after `clear`. */
  load(): Session | null | Promise<Session | null>;
  /**
   * Called after signing in and after each renewal. Resolves when the session is safely stored, because the earlier secret
   * ends soon.
   */
  save(session: Session): void | Promise<void>;
  /** Called at sign-out, regardless of who caused it. */
  clear(): void | Promise<void>;
  /**
   * Runs `work`, a renewal, while no other process or tab that shares the store runs its own. A store without `lock`
   * belongs to only one client.
   */
  lock?<T>(work: () => Promise<T>): Promise<T>;
}

/** Keeps the session until the program ends. */
export function memorySession(session: Session | null = null): SessionStore {
  let kept = session;
  return {
    load: () => kept,
    save(given) {
      kept = given;
    },
    clear() {
      kept = null;
    },
  };
}
