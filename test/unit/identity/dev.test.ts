import type { Caller } from '../../../services/sync/identity/caller.ts';
import { makeDevIdentity } from '../../../services/sync/identity/modes/dev.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { asHeaderBytes, codeOf, requestWith } from './request.ts';

type Header = readonly [string, string];
interface Row {
  user: string;
  device: string | null;
  name: string;
  type: string;
}

const ALICE = ['X-Dev-User', 'alice'] as const;
const LAPTOP = ['X-Dev-Device', 'laptop-01'] as const;

function development({ storeAway = false, revoked = '' } = {}) {
  const rows: Row[] = [];
  const identity = makeDevIdentity({
    async ensureRow({ caller, name, type }) {
      if (storeAway) throw new BatonError('store_unavailable');
      rows.push({ user: caller.userId, device: caller.deviceId, name, type });
    },
    isRevoked: (_, deviceId) => deviceId === revoked,
  });
  const callerFrom = async (headers: Header[], route: Route = ROUTES.getMe, url = route.path): Promise<Caller> =>
    identity.identify(requestWith(headers, { url }), route);
  const stream = (query: string, ...headers: Header[]): Promise<Caller> =>
    callerFrom(headers, ROUTES.openStream, `${ROUTES.openStream.path}?${query}`);
  return { identity, rows, callerFrom, stream };
}

test('a device that was removed gets no row again', async () => {
  const { rows, callerFrom } = development({ revoked: 'laptop-01' });
  await callerFrom([ALICE, LAPTOP]);
  expect(rows).toEqual([]);
});

test('whoever says so is the caller, with full scope', async () => {
  const { callerFrom } = development();
  expect(await callerFrom([ALICE, LAPTOP])).toEqual({
    userId: 'alice',
    account: 'alice',
    scope: 'full',
    name: 'alice',
    roles: [],
    deviceId: 'laptop-01',
  });
});

test('a user is any text of 128 characters, given as UTF-8', async () => {
  const user = `Zoë ${'😀'.repeat(124)}`;
  const { callerFrom } = development();
  const caller = await callerFrom([['X-Dev-User', asHeaderBytes(user)]]);
  expect(caller).toMatchObject({ userId: user, account: encodeURIComponent(user), deviceId: null });
});

test.each<[string, Header[], string]>([
  ['no user', [], 'unauthenticated'],
  ['an empty user', [['X-Dev-User', '']], 'unauthenticated'],
  ['a user of 129 characters', [['X-Dev-User', 'x'.repeat(129)]], 'unauthenticated'],
  ['a user with a control character', [['X-Dev-User', 'a\tb']], 'unauthenticated'],
  ['a user that is not UTF-8', [['X-Dev-User', '\u00e9']], 'invalid_request'],
  ['a user twice', [ALICE, ALICE], 'invalid_request'],
  ['an underscore twin', [ALICE, ['x_dev_scope', 'full']], 'invalid_request'],
  ['a malformed device', [ALICE, ['X-Dev-Device', 'laptop']], 'invalid_request'],
  ['an unknown type', [ALICE, LAPTOP, ['X-Dev-Type', 'toaster']], 'invalid_request'],
  ['a bad device name', [ALICE, LAPTOP, ['X-Dev-Name', '*']], 'invalid_device_name'],
  ['a device name of 33 characters', [ALICE, LAPTOP, ['X-Dev-Name', 'n'.repeat(33)]], 'invalid_device_name'],
  ['a scope in capitals', [ALICE, ['X-Dev-Scope', 'GUEST']], 'unauthenticated'],
  ['an empty scope', [ALICE, ['X-Dev-Scope', '']], 'unauthenticated'],
])('%s is refused', async (_, headers, code) => {
  const { callerFrom, rows } = development();
  expect(await codeOf(() => callerFrom(headers))).toBe(code);
  expect(rows).toEqual([]);
});

test('identity headers of the edge are ignored', async () => {
  const { callerFrom } = development();
  const caller = await callerFrom([
    ALICE,
    ['X-Auth-Subject', 'eve'],
    ['X_Auth_Subject', 'eve'],
    ['X-Auth-Scope', 'no'],
  ]);
  expect(caller.userId).toBe('alice');
});

describe('the query', () => {
  test('names the caller on the event stream', async () => {
    const { stream, rows } = development();
    const caller = await stream('dev_user=Zo%C3%AB&dev_device=phone-001&dev_name=Phone&dev_type=ios');
    expect(caller).toMatchObject({ userId: 'Zoë', deviceId: 'phone-001' });
    expect(rows).toEqual([{ user: 'Zoë', device: 'phone-001', name: 'Phone', type: 'ios' }]);
  });

  test('gives way to a header', async () => {
    const { stream } = development();
    expect(await stream('dev_user=eve&dev_device=phone-001', ALICE)).toMatchObject({
      userId: 'alice',
      deviceId: 'phone-001',
    });
  });

  test('does not choose the scope', async () => {
    const { stream } = development();
    expect((await stream('dev_user=alice&dev_scope=guest')).scope).toBe('full');
  });

  test('with a field given twice is refused', async () => {
    const { stream } = development();
    expect(await codeOf(() => stream('dev_user=alice&dev_user=eve'))).toBe('invalid_request');
  });

  test('means nothing on other routes', async () => {
    const { callerFrom } = development();
    expect(await codeOf(() => callerFrom([], ROUTES.getMe, '/api/me?dev_user=alice'))).toBe('unauthenticated');
  });
});

describe('the device row', () => {
  test('is written on the first use of a device, and not again', async () => {
    const { callerFrom, rows } = development();
    await callerFrom([ALICE, LAPTOP, ['X-Dev-Name', ' Laptop '], ['X-Dev-Type', 'linux']]);
    await callerFrom([ALICE, LAPTOP]);
    expect(rows).toEqual([{ user: 'alice', device: 'laptop-01', name: 'Laptop', type: 'linux' }]);
  });

  test('is one of each account', async () => {
    const { callerFrom, rows } = development();
    await callerFrom([ALICE, LAPTOP]);
    await callerFrom([['X-Dev-User', 'bob'], LAPTOP]);
    expect(rows.map(({ user }) => user)).toEqual(['alice', 'bob']);
  });

  test('is named after the device id and is a browser when nothing else is said', async () => {
    const { callerFrom, rows } = development();
    await callerFrom([ALICE, ['X-Dev-Device', 'd'.repeat(64)]]);
    expect(rows).toMatchObject([{ name: 'd'.repeat(32), type: 'browser' }]);
  });

  test('is not written for a caller without device', async () => {
    const { callerFrom, identity, rows } = development();
    const caller = await callerFrom([ALICE]);
    expect(await identity.restoreRow(caller)).toBe(false);
    expect(rows).toEqual([]);
  });

  test('is written again with what the request says when it turned out to be gone', async () => {
    const { callerFrom, identity, rows } = development();
    await callerFrom([ALICE, LAPTOP]);
    const caller = await callerFrom([ALICE, LAPTOP, ['X-Dev-Name', 'Laptop']]);
    expect(await identity.restoreRow(caller)).toBe(true);
    expect(rows.at(-1)).toMatchObject({ device: 'laptop-01', name: 'Laptop' });
  });

  test('that cannot be written refuses a command but never a stream', async () => {
    const { callerFrom, stream } = development({ storeAway: true });
    expect(await codeOf(() => callerFrom([ALICE, LAPTOP]))).toBe('store_unavailable');
    expect(await codeOf(() => stream('', ALICE, LAPTOP))).toBe('none');
  });
});
