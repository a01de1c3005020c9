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

/** Parses device rows: id, row, id, row, ... */
export function rowsOf(devices: string[]): DeviceRow[] {
  const rows: DeviceRow[] = [];
  for (let i = 0; i + 1 < devices.length; i += 2) rows.push(parseRow(devices[i] as string, devices[i + 1] as string));
  return rows;
}

/** Announced states by device, and `v`. */
function announcedIn(states: string[]): Map<string, string> {
  const announced = new Map<string, string>();
  for (let i = 0; i + 1 < states.length; i += 2) announced.set(states[i] as string, states[i + 1] as string);
  return announced;
}

/** Parses an announced state; a device without one is offline. */
export const stateOf = (state: string | undefined): DeviceState =>
  state ? { online: state[0] === '1', lastSeenAtMs: Number(state.slice(1)) } : { online: false, lastSeenAtMs: null };

/** The state of a row, which is also online while a stream without a device has its name. */
function stateIn(announced: ReadonlyMap<string, string>, { deviceId, name }: DeviceRow): DeviceState {
  const state = stateOf(announced.get(deviceId));
  if (!state.online) state.online = announced.has(`~${name}`);
  return state;
}

/** Reads the states of rows. */
export function stateReader({ states }: Pick<PresenceFields, 'states'>) {
  const announced = announcedIn(states);
  return (row: DeviceRow): DeviceState => stateIn(announced, row);
}

/**
 * The presence of an account as clients get it: its rows and its open streams without a device, merged by name, in the
 * order in which the devices came.
 */
export function presenceView({ devices, states }: PresenceFields): Presence {
  const announced = announcedIn(states);
  const byName = new Map<string, PresenceEntry>();
  for (const row of rowsOf(devices).sort((a, b) => a.createdAtMs - b.createdAtMs)) {
    const { online, lastSeenAtMs } = stateIn(announced, row);
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
