import { type DeviceRow, formatRow, parseRow, refOf } from '../../../services/sync/devices/row.ts';

const ROW: DeviceRow = {
  ...{ deviceId: 'phone', name: 'Phone', type: 'ios', createdAtMs: 1_800_000_000_000 },
  ...{ sessionId: 'session-1', sessionEndsAtMs: 1_900_000_000_000 },
};
const TEXT = 'Phone\nios\n1800000000000\nsession-1\n1900000000000';
/** The device signed in elsewhere: it has a row without a session of the auth broker. */
const FOREIGN: DeviceRow = { ...ROW, sessionId: null, sessionEndsAtMs: null };
const FOREIGN_TEXT = 'Phone\nios\n1800000000000\n\n0';

test.each([
  ['with its session', ROW, TEXT],
  ['without a session', FOREIGN, FOREIGN_TEXT],
])('a row %s is read and written as scripts do it', (_, row, text) => {
  expect(parseRow('phone', text)).toEqual(row);
  expect(formatRow(row)).toBe(text);
});

test('a row of fewer lines is that of a browser without a session, of unknown age', () => {
  expect(parseRow('phone', 'Phone')).toEqual({ ...FOREIGN, type: 'browser', createdAtMs: 0 });
});

test('responses and events name a device by its id, name and type alone', () => {
  expect(refOf(ROW)).toEqual({ device_id: 'phone', name: 'Phone', type: 'ios' });
});
