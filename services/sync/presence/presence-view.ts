import type { Presence, PresenceEntry } from '../../../shared/contract/modules/presence.ts';
import { looksOf } from '../../../shared/contract/vocabulary/device-names.ts';
import { type DeviceRow, parseRow } from '../devices/row.ts';

/** Rows and announced states of one moment, as scripts return them: flat lists of field, value. */
export interface PresenceFields {
  devices: string[];
  states: string[];
}

/** An announced state: `1<since_ms>` while online, `0<last_seen_ms>` after. */
export interface DeviceState {
  online: boolean;
  /** Time at which the device was last seen; null when it never was. */
  lastSeenAtMs: number | null;
}

/** Parses device rows: id, row, id, row, ... */
export function rowsOf(devices: string[]): DeviceRow[] {
  const rows: DeviceRow[] = [];
  for (let i = 0; i + 1 < devices.length; i += 2) rows.push(parseRow(devices[i] as string, devices[i + 1] as string));
  return rows;
}

/** Returns the announced states by device, and `v`. */
function announcedIn(states: string[]): Map<string, string> {
  const announced = new Map<string, string>();
  for (let i = 0; i + 1 < states.length; i += 2) announced.set(states[i] as string, states[i + 1] as string);
  return announced;
}

/** Parses an announced state; a device without one is offline. */
export const stateOf = (state: string | undefined): DeviceState =>
  state ? { online: state[0] === '1', lastSeenAtMs: Number(state.slice(1)) } : { online: false, lastSeenAtMs: null };

/** Returns the names of the open streams without a device. */
const liveNames = (announced: ReadonlyMap<string, string>): string[] =>
  [...announced.keys()].filter((key) => key.startsWith('~')).map((key) => key.slice(1));

/**
 * Returns whether a stream without a device belongs to this row by its name: the same name, or, if no row has that, one
 * that looks the same.
 */
function isOfRow(stream: string, name: string, rowNames: ReadonlySet<string>): boolean {
  return stream === name || (!rowNames.has(stream) && looksOf(stream) === looksOf(name));
}

/** Reads the states of rows. A row is also online while a stream without a device has its name. */
export function stateReader({ devices, states }: PresenceFields) {
  const announced = announcedIn(states);
  const streams = liveNames(announced);
  const rowNames = new Set(streams.length === 0 ? [] : rowsOf(devices).map(({ name }) => name));
  return ({ deviceId, name }: DeviceRow): DeviceState => {
    const state = stateOf(announced.get(deviceId));
    if (!state.online) state.online = streams.some((stream) => isOfRow(stream, name, rowNames));
    return state;
  };
}

/**
 * Returns the presence of an account in the form for clients: its rows in the order of their creation, and its open streams
 * without a device whose names no row has. Only old rows can have several names that look the same.
 */
export function presenceView(fields: PresenceFields): Presence {
  const announced = announcedIn(fields.states);
  const stateOfRow = stateReader(fields);
  const rows = rowsOf(fields.devices).sort((a, b) => a.createdAtMs - b.createdAtMs);
  const entries = rows.map((row): PresenceEntry => {
    const { online, lastSeenAtMs } = stateOfRow(row);
    return { device_id: row.deviceId, name: row.name, type: row.type, online, last_seen_at: lastSeenAtMs };
  });
  const looks = new Set(rows.map(({ name }) => looksOf(name)));
  for (const name of liveNames(announced)) {
    if (looks.has(looksOf(name))) continue;
    looks.add(looksOf(name));
    entries.push({ device_id: null, name, type: null, online: true, last_seen_at: null });
  }
  return { version: Number(announced.get('v') ?? 0), devices: entries };
}
