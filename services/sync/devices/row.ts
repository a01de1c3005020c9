import type { DeviceRef, DeviceType } from '../../../shared/contract/fields.ts';

/** A device row: a thin cache, not the authority over sessions. Scripts read and write the same five lines. */
export interface DeviceRow {
  deviceId: string;
  name: string;
  type: DeviceType;
  createdAtMs: number;
}

/** Parses `name \n type \n created_ms \n session id \n session end_ms`; no name can hold a line end. */
export function parseRow(deviceId: string, row: string): DeviceRow {
  const [name = '', type = 'browser', created = '0'] = row.split('\n');
  return { deviceId, name, type: type as DeviceType, createdAtMs: Number(created) };
}

export const refOf = (row: DeviceRow): DeviceRef => ({ device_id: row.deviceId, name: row.name, type: row.type });
