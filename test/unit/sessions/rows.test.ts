import { BatonError } from '../../../shared/contract/errors.ts';
import type { BrokerSession } from '../../../shared/contract/modules/broker.ts';
import { type DeviceRow, type NewDevice } from '../../../services/sync/devices/row.ts';
import type { Revocations } from '../../../services/sync/sessions/revocation/revocations.ts';
import { makeSessionRows } from '../../../services/sync/sessions/rows/rows.ts';

/* The end of a session is due, and the device signs in again while the broker is asked about it. */

const [NOW, LATER] = [1_000_000, 2_000_000];
const JOB = 'session:device-1';

const rowWith = (sessionId: string): DeviceRow => ({
  ...{ deviceId: 'device-1', name: 'Phone', type: 'ios', createdAtMs: 1, sessionId, sessionEndsAtMs: LATER },
});
const session: BrokerSession = {
  ...{ session_id: 's2', meta: 'device-1', label: 'Phone', scope: 'full', tier: 'full', persist: 'persist' },
  ...{ created_at: 1, last_active_at: 1, expires_at: LATER },
};

/** Makes the rows of an account. `whileAsked` runs before the broker lists its sessions. */
function accountWith(stored: DeviceRow[], whileAsked: (stored: DeviceRow[]) => BrokerSession[]) {
  const [expired, admitted]: [string[], NewDevice['mode'][]] = [[], []];
  const rows = makeSessionRows({
    devices: {
      rows: () => Promise.resolve([...stored]),
      admit: (_, { deviceId, name, type, mode }) => {
        admitted.push(mode);
        return Promise.resolve({ device_id: deviceId, name, type });
      },
      remove: () => Promise.reject(new BatonError('internal')),
    },
    revocations: { isTombstoned: () => Promise.resolve(false) } as unknown as Revocations,
    removal: {
      expire: (_, deviceId) => Promise.resolve(void expired.push(deviceId)),
      remind: () => Promise.resolve(),
    },
    broker: { list: () => Promise.resolve(whileAsked(stored)) },
    nowMs: () => Promise.resolve(NOW),
    scheduleDue: () => Promise.resolve(),
  });
  return { expired, admitted, expire: () => rows.expire('ann', JOB) };
}

const signIn = (stored: DeviceRow[]) => void stored.splice(0, stored.length, rowWith('s2'));

describe.each([
  ['with a row', [rowWith('s1')]],
  ['without a row', []],
])('a device %s', (_, before: DeviceRow[]) => {
  test('stays when it has signed in before the broker lists its sessions', async () => {
    const account = accountWith([...before], () => [session]);
    expect(await account.expire()).toBe(false);
    expect([account.expired, account.admitted]).toEqual([[], ['lost']]);
  });

  test('stays when its row was written after the broker listed its sessions', async () => {
    const account = accountWith([...before], (stored) => {
      signIn(stored);
      return [];
    });
    await account.expire();
    expect(account.expired).toEqual([]);
  });

  test('is removed when it has no session', async () => {
    const account = accountWith([...before], () => []);
    expect(await account.expire()).toBe(true);
    expect(account.expired).toEqual(['device-1']);
  });

  test('is removed when its session has ended, though the broker still lists it', async () => {
    const account = accountWith([...before], () => [{ ...session, expires_at: NOW }]);
    expect(await account.expire()).toBe(true);
    expect(account.expired).toEqual(['device-1']);
  });
});
