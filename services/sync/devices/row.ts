import type { DeviceRef, DeviceType } from '../../../shared/contract/vocabulary/fields.ts';

/** A device row: a thin cache, not the authority over sessions. Scripts read and write the same five lines. */
export interface DeviceRow {
  deviceId: string;
  name: string;
  type: DeviceType;
  createdAtMs: number;
  /** Null if no sign-in that this service saw made the row. */
  sessionId: string | null;
  /** When the session of the device ends; null when that is unknown. */
  sessionEndsAtMs: number | null;
}

/** The input from which a row is written. */
export interface NewDevice {
  deviceId: string;
  name: string;
  type: DeviceType;
  /**
   * `new`: adds a missing device, with an event; an existing row stays as it is. `lost`: puts a missing row back, without
   * an event; an existing row takes the session. `kept`: as `lost`, but the type is known, so that an existing row takes
   * it too. `minted`: as `new`, but an existing row takes the name, type and session.
   */
  mode: 'new' | 'lost' | 'kept' | 'minted';
  /** The device's session at the broker, if it is known. */
  session: { id: string; endsAtMs: number } | null;
}

/** Parses `name \n type \n created_ms \n session id \n session end_ms`; no name can hold a line end. */
export function parseRow(deviceId: string, row: string): DeviceRow {
  const [name = '', type = 'browser', created = '0', session = '', end = '0'] = row.split('\n');
  return {
    deviceId,
    name,
    type: type as DeviceType,
    createdAtMs: Number(created),
    sessionId: session || null,
    sessionEndsAtMs: Number(end) || null,
  };
}

/** Returns the text that `parseRow` parses. */
export const formatRow = ({ name, type, createdAtMs, sessionId, sessionEndsAtMs }: DeviceRow): string =>
  [name, type, createdAtMs, sessionId ?? '', sessionEndsAtMs ?? 0].join('\n');

/** Returns the device as responses and events name it. */
export const refOf = (row: DeviceRow): DeviceRef => ({ device_id: row.deviceId, name: row.name, type: row.type });
