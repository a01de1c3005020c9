import type { DeviceRef, Persist, Scope, User } from '../wire.ts';

/** A session as it is kept: plain JSON. In a browser the secret is in the cookie, which no script can read. */
export interface Session {
  /** The secret that renews the session; null where a browser's cookie has it. */
  credential: string | null;
  /** Null where the cookie is sent instead. */
  access_token: string | null;
  /** By this machine's clock, in Unix milliseconds. */
  access_token_expires_at: number;
  /** How long such a token lives. */
  access_token_seconds?: number;
  /** The origins that this session may be sent to. Without them it is of an older version, and bound where it is used first. */
  origins?: readonly string[];
  /** The name of the service. */
  service?: string;
  /** Its user wants it to be sent over plain http. */
  plain_http?: boolean;
  scope: Scope;
  persist: Persist;
  session_expires_at: number;
  /** Null: signed in without being a device yet (`startDeviceSession` makes it one). */
  device: DeviceRef | null;
  user: User;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= 8_192;
const orNull = (fits: (value: unknown) => boolean) => (value: unknown) => value === null || fits(value);
const orAbsent = (fits: (value: unknown) => boolean) => (value: unknown) => value === undefined || fits(value);

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  credential: orNull(isText),
  access_token: orNull(isText),
  access_token_expires_at: Number.isFinite,
  session_expires_at: Number.isFinite,
  access_token_seconds: orAbsent(Number.isFinite),
  origins: orAbsent((value) => Array.isArray(value) && value.every(isText)),
  service: orAbsent(isText),
  plain_http: orAbsent((value) => typeof value === 'boolean'),
  scope: isText,
  persist: isText,
  device: orNull((value) => isText((value as Partial<DeviceRef>)?.device_id)),
  user: (value) => isText((value as Partial<User> | null)?.user_id),
};

/** What was kept, or null: it is none, whatever happened to it. */
export function sessionIn(text: string): Session | null {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    const fits = value !== null && Object.entries(FIELDS).every(([name, test]) => test(value[name]));
    return fits ? (value as unknown as Session) : null;
  } catch {
    return null;
  }
}

/** Where a session is kept between two runs. Everything may be asynchronous. */
export interface SessionStore {
  /** What was saved last; null when nothing was, or it was cleared. */
  load(): Session | null | Promise<Session | null>;
  /** After signing in and after each renewal: resolve when it is safely stored, for the secret before it ends soon. */
  save(session: Session): void | Promise<void>;
  /** Signed out, by whomever. */
  clear(): void | Promise<void>;
  /**
   * Runs `work` while no other process or tab that shares the store does: renewals. Without it the store belongs to one
   * client alone.
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
