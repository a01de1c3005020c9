import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import {
  DEVICE_TYPES,
  type DeviceType,
  parseDeviceName,
  type Scope,
} from '../../../../shared/contract/vocabulary/fields.ts';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { streamRoutes } from '../../../../shared/contract/modules/stream.ts';
import { isStoreAway } from '../../../../shared/service-kit/redis/faults.ts';
import { accountOf, type Caller } from '../caller.ts';
import { isDeviceId } from '../device-id.ts';
import { CONTROL, headerOf, refuseAmbiguous, utf8Of } from './headers.ts';
import type { Identity } from '../identity.ts';
import { makeSeen } from '../seen.ts';

const IDENTITY_HEADERS = ['x-dev-user', 'x-dev-device', 'x-dev-name', 'x-dev-type', 'x-dev-scope'];
const USER_CHARS = 128;
/** Counts code points, line breaks included. */
const USER = new RegExp(`^.{1,${USER_CHARS}}$`, 'su');
/** The most devices whose row this process has seen. A forgotten one costs one more write that changes nothing. */
const SEEN_DEVICES = 10_000;

/** The data of a development request about its device, besides the id. */
interface DeviceInfo {
  readonly name: string;
  readonly type: DeviceType;
}

type Field = (name: 'user' | 'device' | 'name' | 'type') => string | null;

const malformed = (field: string, message: string): BatonError =>
  new BatonError('invalid_request', `${field} ${message}`, { errors: [{ path: `/header/${field}`, message }] });

const isStream = (route: Route): boolean => route.path === streamRoutes.openStream.path;

/** Returns the query of a stream, because an EventSource cannot set headers. Other routes have none. */
function queryOf(req: IncomingMessage, route: Route): URLSearchParams {
  if (!isStream(route)) return new URLSearchParams();
  const url = req.url ?? '';
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start));
}

function fieldsOf(req: IncomingMessage, route: Route): Field {
  const query = queryOf(req, route);
  return (name) => {
    const header = headerOf(req, `x-dev-${name}`);
    if (header !== null) {
      const text = utf8Of(header);
      if (text === null) throw malformed(`X-Dev-${name[0]?.toUpperCase()}${name.slice(1)}`, 'is not UTF-8');
      return text;
    }
    const given = query.getAll(`dev_${name}`);
    if (given.length <= 1) return given[0] ?? null;
    const message = 'occurs more than once';
    throw new BatonError('invalid_request', `dev_${name} ${message}`, {
      errors: [{ path: `/query/dev_${name}`, message }],
    });
  };
}

function userOf(text: string | null): string {
  if (text === null || text === '') throw new BatonError('unauthenticated', 'Say who you are with X-Dev-User');
  if (USER.test(text) && !CONTROL.test(text)) return text;
  throw new BatonError('unauthenticated', `X-Dev-User is 1 to ${USER_CHARS} characters without control characters`);
}

function deviceIdOf(text: string | null): string | null {
  if (text === null || text === '') return null;
  if (isDeviceId(text)) return text;
  throw malformed('X-Dev-Device', 'must be 8 to 64 characters of A-Z a-z 0-9 _ -');
}

function scopeOf(text: string | null): Scope {
  if (text === null || text === 'full') return 'full';
  if (text === 'guest') return 'guest';
  throw new BatonError('unauthenticated', 'X-Dev-Scope is full or guest');
}

function typeOf(text: string | null): DeviceType {
  if (text === null || text === '') return 'browser';
  const type = DEVICE_TYPES.find((known) => known === text);
  if (type !== undefined) return type;
  throw malformed('X-Dev-Type', `must be one of ${DEVICE_TYPES.join(', ')}`);
}

function deviceNameOf(text: string | null, deviceId: string): string {
  if (text === null || text === '') return deviceId.slice(0, LIMITS.deviceNameChars);
  const name = parseDeviceName(text);
  if (name !== null) return name;
  throw new BatonError('invalid_device_name');
}

interface DevIdentityDeps {
  /** Writes the row of a device that has none, and leaves an existing one as it is. */
  ensureRow: (device: { caller: Caller; name: string; type: DeviceType; isNew: boolean }) => Promise<void>;
  /** Returns whether the device was removed, as far as this replica knows. */
  isRevoked: (account: string, deviceId: string) => boolean;
}

/**
 * Makes identity mode `dev` (CONTRACT.md, "Identity"), which believes every caller. The row of a device is written on its
 * first use in this process, and again when it turns out to be missing.
 */
export function makeDevIdentity({ ensureRow, isRevoked }: DevIdentityDeps): Identity {
  const seen = makeSeen(SEEN_DEVICES);
  /** The name and type that the caller's request gave for its device. */
  const deviceInfo = new WeakMap<Caller, DeviceInfo>();

  const writeRow = async (caller: Caller, { name, type }: DeviceInfo, isNew: boolean): Promise<void> => {
    await ensureRow({ caller, name, type, isNew });
    seen.add(`${caller.account} ${caller.deviceId}`);
  };

  const readCaller = (req: IncomingMessage, route: Route): Caller => {
    refuseAmbiguous(req, IDENTITY_HEADERS);
    const field = fieldsOf(req, route);
    const userId = userOf(field('user'));
    const deviceId = deviceIdOf(field('device'));
    const scope = scopeOf(headerOf(req, 'x-dev-scope'));
    const caller = { userId, account: accountOf(userId), scope, name: userId, roles: [], deviceId };
    const type = typeOf(field('type'));
    if (deviceId !== null) deviceInfo.set(caller, { name: deviceNameOf(field('name'), deviceId), type });
    return caller;
  };

  const writeFirstRow = async (caller: Caller, device: DeviceInfo, route: Route): Promise<void> => {
    const { account, deviceId } = caller;
    // The next step refuses a removed device, so it must not come back here.
    if (seen.has(`${account} ${deviceId}`) || (deviceId !== null && isRevoked(account, deviceId))) return;
    try {
      await writeRow(caller, device, true);
    } catch (error) {
      // A stream waits for the store, so an unreachable store must not refuse it. A later request then writes the row.
      if (!isStoreAway(error) || !isStream(route)) throw error;
    }
  };

  return {
    async identify(req, route) {
      const caller = readCaller(req, route);
      const device = deviceInfo.get(caller);
      if (device) await writeFirstRow(caller, device, route);
      return caller;
    },
    async restoreRow(caller) {
      const device = deviceInfo.get(caller);
      const { account, deviceId } = caller;
      if (device === undefined || (deviceId !== null && isRevoked(account, deviceId))) return false;
      await writeRow(caller, device, false);
      return true;
    },
  };
}
