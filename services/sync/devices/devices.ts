import type { Device } from '../../../shared/contract/modules/devices.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { type DeviceRef, type DeviceType, parseDeviceName } from '../../../shared/contract/vocabulary/fields.ts';
import type { RemovedReason, RevokedReason } from '../../../shared/contract/modules/sessions.ts';
import type { Caller } from '../identity/caller.ts';
import { type DeviceState, rowsOf, stateOf, stateReader } from '../presence/presence-view.ts';
import { type DeviceRow, formatRow, type NewDevice, parseRow, refOf } from './row.ts';
import type { DeviceStore } from './store.ts';

/** How the other devices are told of the end of a session. */
const REMOVED_AS: Readonly<Record<RevokedReason, RemovedReason>> = {
  revoked: 'removed',
  logout: 'logout',
  expired: 'expired',
};

function deviceOf(row: DeviceRow, { online, lastSeenAtMs }: DeviceState, caller: Caller): Device {
  return {
    ...refOf(row),
    online,
    current: row.deviceId === caller.deviceId,
    created_at: row.createdAtMs,
    last_seen_at: lastSeenAtMs,
  };
}

interface RowOfCaller {
  caller: Caller;
  name: string;
  type: DeviceType;
  isNew: boolean;
}

/** Makes the rules of devices: the names of an account's devices, and which of them are online. */
export function makeDevices(store: DeviceStore) {
  return {
    /** Returns the devices, the oldest first. */
    async list(caller: Caller): Promise<Device[]> {
      const presence = await store.readPresence(caller.account);
      const stateOfRow = stateReader(presence);
      return rowsOf(presence.devices)
        .sort((a, b) => a.createdAtMs - b.createdAtMs)
        .map((row) => deviceOf(row, stateOfRow(row), caller));
    },

    /** Returns the caller's own device; null when the caller has no device, or the device has no row. */
    async own(caller: Pick<Caller, 'account' | 'deviceId'>): Promise<DeviceRef | null> {
      if (caller.deviceId === null) return null;
      const row = await store.findRow(caller.account, caller.deviceId);
      return row === null ? null : refOf(parseRow(caller.deviceId, row));
    },

    /** Returns whether the device has a row. It asks with a script, which fails at once if the account's slot is down. */
    hasRow: async (account: string, deviceId: string): Promise<boolean> =>
      (await store.readPresence(account)).devices.includes(deviceId),

    /** Renames a device. Throws `invalid_device_name`, `name_taken`, `not_found`, `rate_limited`. */
    async rename(caller: Caller, deviceId: string, wanted: string): Promise<Device> {
      const name = parseDeviceName(wanted);
      if (name === null) throw new BatonError('invalid_device_name');
      const { row, state } = await store.rename(caller.account, {
        caller: caller.deviceId ?? '',
        device: deviceId,
        name,
      });
      return deviceOf(parseRow(deviceId, row), stateOf(state || undefined), caller);
    },

    /** Writes the row of a device that has none. Only a new device causes an event. */
    async ensureRow({ caller, name, type, isNew }: RowOfCaller): Promise<void> {
      const { account, deviceId } = caller;
      const mode = isNew ? 'new' : 'lost';
      if (deviceId !== null) await store.add(account, { deviceId, name, type, mode, session: null });
    },

    /**
     * Writes the row of a device whose session was minted or renewed. Resolves to the device, under a name that was free.
     * A repetition changes nothing. Throws `device_limit`.
     */
    async admit(account: string, device: NewDevice): Promise<DeviceRef> {
      return refOf(parseRow(device.deviceId, await store.add(account, device)));
    },

    /** Removes a device with its mailbox and registrations; with `onlyIf`, only while that is its row. False: it is not. */
    remove: (account: string, deviceId: string, reason: RevokedReason, onlyIf?: DeviceRow): Promise<boolean> =>
      store.remove(account, deviceId, REMOVED_AS[reason], onlyIf && formatRow(onlyIf)),

    /** Resolves to the devices of the account that were last announced online. */
    async online(account: string): Promise<Set<string>> {
      const presence = await store.readPresence(account);
      const stateOfRow = stateReader(presence);
      const online = rowsOf(presence.devices).filter((row) => stateOfRow(row).online);
      return new Set(online.map(({ deviceId }) => deviceId));
    },

    /** Resolves to whether the device has a row without a session of the auth broker, because it signed in elsewhere. */
    async isForeign(account: string, deviceId: string): Promise<boolean> {
      const row = await store.findRow(account, deviceId);
      return row !== null && parseRow(deviceId, row).sessionId === null;
    },

    async rows(account: string): Promise<DeviceRow[]> {
      return rowsOf((await store.readPresence(account)).devices);
    },
  };
}

export type Devices = ReturnType<typeof makeDevices>;
