import type { Caller } from '../../../services/sync/identity/caller.ts';
import { guard } from '../../../services/sync/identity/guard.ts';
import { route } from '../../../shared/contract/vocabulary/route.ts';
import { codeOf } from './request.ts';

const OWN = 'own-device';
const callerWith = (scope: 'full' | 'guest', deviceId: string | null = OWN): Caller => ({
  userId: 'alice',
  account: 'alice',
  name: 'Alice',
  roles: [],
  scope,
  deviceId,
});

test.each([
  ['any', 'guest', OWN, 'none'],
  ['full', 'full', OWN, 'none'],
  ['full', 'guest', OWN, 'guest_forbidden'],
  ['own', 'full', 'other-device', 'none'],
  ['own', 'guest', OWN, 'none'],
  ['own', 'guest', 'other-device', 'guest_forbidden'],
] as const)('a route for %s scope, asked by a %s about %s: %s', async (scope, callers, target, code) => {
  const row = route({ method: 'GET', path: '/x/{device_id}', summary: '', scope, answers: {} });
  expect(await codeOf(() => guard(row, callerWith(callers), { device_id: target }))).toBe(code);
});

test('a guest without device owns no device', async () => {
  const row = route({ method: 'GET', path: '/x', summary: '', scope: 'own', answers: {} });
  expect(await codeOf(() => guard(row, callerWith('guest', null), {}))).toBe('guest_forbidden');
});

test('a route that needs a device refuses a session without one', async () => {
  const row = route({ method: 'GET', path: '/x', summary: '', device: 'required', answers: {} });
  expect(await codeOf(() => guard(row, callerWith('full', null), {}))).toBe('device_required');
  expect(await codeOf(() => guard(row, callerWith('full'), {}))).toBe('none');
});
