import type { DeviceRef, DeviceType } from '../../../shared/contract/vocabulary/fields.ts';

/** A device row: a thin cache, not the authority over sessions. Scripts read and write the same five lines. */
export interface DeviceRow {
  deviceId: string;
  name: string;
  type: DeviceType;
  createdAtMs: number;
  /** Null where the row was not made by a sign-in that this service saw. */
  sessionId: string | null;
  /** When its session ends; null when that is not known. */
  sessionEndsAtMs: number | null;
}

/** What a row is written from. */
export interface NewDevice {
  deviceId: string;
  name: string;
  type: DeviceType;
  /**
   * `new`: a missing device is added, and an event says so; an existing one stays as it is. `lost`: a missing row is put
   * back, without an event; an existing one takes the session. `kept`: as `lost`, but the type is known, and an existing
   * one takes it too. `minted`: as `new`, but an existing one takes the name, type and session.
   */
  mode: 'new' | 'lost' | 'kept' | 'minted';
  /** Its session at the broker, where it is known. */
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

/** What `parseRow` was given. */
export const formatRow = ({ name, type, createdAtMs, sessionId, sessionEndsAtMs }: DeviceRow): string =>
  [name, type, createdAtMs, sessionId ?? '', sessionEndsAtMs ?? 0].join('\n');

/** A device as other answers name it. */
export const refOf = (row: DeviceRow): DeviceRef => ({ device_id: row.deviceId, name: row.name, type: row.type });
