import type { Presence, PresenceEntry } from '../../../shared/contract/modules/presence.ts';
import { type DeviceRow, parseRow } from '../devices/row.ts';

/** Rows and announced states of one moment, as scripts return them: flat lists of field, value. */
export interface PresenceFields {
  devices: string[];
  states: string[];
}

/** An announced state: `1<since_ms>` while online, `0<last_seen_ms>` after. */
export interface DeviceState {
  online: boolean;
  /** When it was last seen; null when it never was. */
  lastSeenAtMs: number | null;
}

const pairs = (flat: string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] as string, flat[2 * i + 1] as string]);

/** Parses device rows: id, row, id, row, ... */
export const rowsOf = (devices: string[]): DeviceRow[] => pairs(devices).map(([id, row]) => parseRow(id, row));

/** Parses an announced state; a device without one is offline. */
export const stateOf = (state: string | undefined): DeviceState =>
  state ? { online: state[0] === '1', lastSeenAtMs: Number(state.slice(1)) } : { online: false, lastSeenAtMs: null };

/** Reads the states of rows. A row is also online while a stream without a device has its name. */
export function stateReader({ states }: Pick<PresenceFields, 'states'>) {
  const announced = new Map(pairs(states));
  return ({ deviceId, name }: DeviceRow): DeviceState => {
    const state = stateOf(announced.get(deviceId));
    return { ...state, online: state.online || announced.has(`~${name}`) };
  };
}

/**
 * The presence of an account as clients get it: its rows and its open streams without a device, merged by name, in the
 * order in which the devices came.
 */
export function presenceView({ devices, states }: PresenceFields): Presence {
  const announced = new Map(pairs(states));
  const byName = new Map<string, PresenceEntry>();
  const stateOfRow = stateReader({ states });
  for (const row of rowsOf(devices).sort((a, b) => a.createdAtMs - b.createdAtMs)) {
    const { online, lastSeenAtMs } = stateOfRow(row);
    byName.set(row.name, {
      device_id: row.deviceId,
      name: row.name,
      type: row.type,
      online,
      last_seen_at: lastSeenAtMs,
    });
  }
  for (const device of announced.keys()) {
    const name = device.slice(1);
    if (!device.startsWith('~') || byName.has(name)) continue;
    byName.set(name, { device_id: null, name, type: null, online: true, last_seen_at: null });
  }
  return { version: Number(announced.get('v') ?? 0), devices: [...byName.values()] };
}
