import { makeDevices } from '../../../services/sync/devices/devices.ts';
import { type DeviceRow, formatRow, type NewDevice } from '../../../services/sync/devices/row.ts';
import type { Caller } from '../../../services/sync/identity/caller.ts';

const { jest } = import.meta;

const CALLER: Caller = {
  ...{ userId: 'ann', account: 'ann', scope: 'full', name: 'Ann', roles: [], deviceId: 'phone' },
};
const NO_DEVICE: Caller = { ...CALLER, deviceId: null };

const rowOf = (deviceId: string, createdAtMs: number, sessionId: string | null = 'session-1'): DeviceRow => ({
  ...{ deviceId, name: `Name of ${deviceId}`, type: 'linux', createdAtMs, sessionId, sessionEndsAtMs: null },
});
const refOfRow = ({ deviceId, name, type }: DeviceRow) => ({ device_id: deviceId, name, type });
const [PHONE, LAPTOP, TABLET] = [rowOf('phone', 2), rowOf('laptop', 1), rowOf('tablet', 3, null)];
const ROWS = [PHONE, LAPTOP, TABLET];
/** The phone is online, the laptop was online before, and the tablet never was. */
const STATES = ['phone', '1500', 'laptop', '0400', 'v', '7'];

/** Makes the rules of devices over a store with these rows. Each change is recorded, and succeeds. */
function setUp() {
  const calls = {
    add: jest.fn((_account: string, { deviceId, type }: NewDevice) =>
      Promise.resolve(formatRow({ ...rowOf(deviceId, 9), name: 'A free name', type })),
    ),
    remove: jest.fn(() => Promise.resolve(true)),
    rename: jest.fn((_account: string, { device, name }: { device: string; name: string }) =>
      Promise.resolve({ row: formatRow({ ...rowOf(device, 2), name }), state: device === 'phone' ? '1500' : '' }),
    ),
  };
  const store = {
    ...calls,
    readPresence: () =>
      Promise.resolve({ devices: ROWS.flatMap((row) => [row.deviceId, formatRow(row)]), states: STATES }),
    findRow: (_account: string, deviceId: string) => {
      const row = ROWS.find((each) => each.deviceId === deviceId);
      return Promise.resolve(row ? formatRow(row) : null);
    },
  };
  return { ...calls, devices: makeDevices(store) };
}

describe('the devices of an account', () => {
  test('are listed, the oldest first, each with its state', async () => {
    expect(await setUp().devices.list(CALLER)).toEqual([
      { ...refOfRow(LAPTOP), created_at: 1, online: false, current: false, last_seen_at: 400 },
      { ...refOfRow(PHONE), created_at: 2, online: true, current: true, last_seen_at: 500 },
      { ...refOfRow(TABLET), created_at: 3, online: false, current: false, last_seen_at: null },
    ]);
  });

  test('are none the current one to a caller without a device', async () => {
    expect((await setUp().devices.list(NO_DEVICE)).some(({ current }) => current)).toBe(false);
  });

  test('are online as they were announced', async () => {
    expect(await setUp().devices.online('ann')).toEqual(new Set(['phone']));
  });

  test('are read as rows', async () => {
    expect(await setUp().devices.rows('ann')).toEqual(ROWS);
  });

  test('have a row until they are removed', async () => {
    const { devices } = setUp();
    expect([await devices.hasRow('ann', 'tablet'), await devices.hasRow('ann', 'gone')]).toEqual([true, false]);
  });
});

test.each([
  ['with a row is told its name', 'laptop', refOfRow(LAPTOP)],
  ['without a row has no name', 'gone', null],
  ['without a device has none', null, null],
])('a caller %s', async (_, deviceId, own) => {
  expect(await setUp().devices.own({ account: 'ann', deviceId })).toEqual(own);
});

describe('a device is foreign', () => {
  test.each([
    ['if its row has no session of the auth broker', 'tablet', true],
    ['but not if it has one', 'laptop', false],
    ['but not without a row', 'gone', false],
  ])('%s', async (_, deviceId, isForeign) => {
    expect(await setUp().devices.isForeign('ann', deviceId)).toBe(isForeign);
  });
});

describe('a rename', () => {
  test('answers with the device under its new name, without the spaces around it', async () => {
    const { devices, rename } = setUp();
    const device = { ...refOfRow(PHONE), name: 'My phone', created_at: 2 };
    expect(await devices.rename(CALLER, 'phone', '  My phone ')).toEqual({
      ...device,
      ...{ online: true, current: true, last_seen_at: 500 },
    });
    expect(rename).toHaveBeenCalledWith('ann', { caller: 'phone', device: 'phone', name: 'My phone' });
  });

  test('answers that a device was never seen where nothing was announced of it', async () => {
    expect(await setUp().devices.rename(CALLER, 'tablet', 'Tablet')).toMatchObject({
      ...{ device_id: 'tablet', online: false, current: false, last_seen_at: null },
    });
  });

  test.each(['', '*', 'Küche', 'x'.repeat(33)])('to %j is refused, and changes nothing', async (name) => {
    const { devices, rename } = setUp();
    await expect(devices.rename(CALLER, 'phone', name)).rejects.toMatchObject({ code: 'invalid_device_name' });
    expect(rename).not.toHaveBeenCalled();
  });

  test('by a caller without a device names none', async () => {
    const { devices, rename } = setUp();
    await devices.rename(NO_DEVICE, 'phone', 'My phone');
    expect(rename).toHaveBeenCalledWith('ann', { caller: '', device: 'phone', name: 'My phone' });
  });
});

describe('a row is written', () => {
  test.each([
    ['with an event where the device is new', true, 'new'],
    ['without an event where it was lost', false, 'lost'],
  ])('%s', async (_, isNew, mode) => {
    const { devices, add } = setUp();
    await devices.ensureRow({ caller: CALLER, name: 'Phone', type: 'ios', isNew });
    expect(add.mock.calls).toEqual([['ann', { deviceId: 'phone', name: 'Phone', type: 'ios', mode, session: null }]]);
  });

  test('for no caller without a device', async () => {
    const { devices, add } = setUp();
    await devices.ensureRow({ caller: NO_DEVICE, name: 'Phone', type: 'ios', isNew: true });
    expect(add).not.toHaveBeenCalled();
  });

  test('with its session where that was minted, and the caller learns the name that was free', async () => {
    const { devices, add } = setUp();
    const device: NewDevice = {
      ...{ deviceId: 'phone', name: 'Phone', type: 'ios', mode: 'minted', session: { id: 's', endsAtMs: 5 } },
    };
    expect(await devices.admit('ann', device)).toEqual({ device_id: 'phone', name: 'A free name', type: 'ios' });
    expect(add).toHaveBeenCalledWith('ann', device);
  });
});

describe('a removal', () => {
  test.each([
    ['revoked', 'removed'],
    ['logout', 'logout'],
    ['expired', 'expired'],
  ] as const)('of a device whose session is %s is told to the others as %s', async (reason, told) => {
    const { devices, remove } = setUp();
    expect(await devices.remove('ann', 'phone', reason)).toBe(true);
    expect(remove.mock.calls).toEqual([['ann', 'phone', told, undefined]]);
  });

  test('may depend on the row that was read', async () => {
    const { devices, remove } = setUp();
    remove.mockResolvedValueOnce(false);
    expect(await devices.remove('ann', 'phone', 'expired', PHONE)).toBe(false);
    expect(remove).toHaveBeenCalledWith('ann', 'phone', 'expired', formatRow(PHONE));
  });
});
