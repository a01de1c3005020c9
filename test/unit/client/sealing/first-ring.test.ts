import { BatonClientError } from '../../../../shared/client/errors/baton-client-error.ts';
import { memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { makeRings } from '../../../../shared/client/sealing/rings.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { ACCOUNT, codeOf, NOW } from '../sealed/people.ts';

const LASTING = { scope: 'full', persist: 'persist' };
const noGrant = { load: async () => null, save: async () => {}, clear: async () => {} };

/** Makes a device with this access, and a service that keeps rings until a test takes them away. */
function deviceWith(access: { scope: string; persist: string }) {
  const service = { rings: [] as string[] };
  const call = async (name: string, { body }: { body?: { ring: string } } = {}) => {
    if (name === 'getMe') return { body: { service: ACCOUNT.service, features: { sealed: true } } };
    if (name === 'putKeys') service.rings.push(body?.ring ?? '');
    if (service.rings.length === 0) throw new BatonClientError('not_found', 'no keys');
    return { body: { rings: service.rings, n: service.rings.length, guests: null } };
  };
  const session = { device: { device_id: 'laptop-1' }, user: { user_id: ACCOUNT.user_id }, ...access };
  const times = { serverNow: () => NOW, trustedNow: () => NOW };
  const calls = { caller: { call }, ...times, session: async () => session } as unknown as SealingCalls;
  return { service, rings: makeRings(calls, { keys: memoryKeys(), asking: memoryKeys(), grant: noGrant }) };
}

test.each([
  ['a session for an hour', { ...LASTING, persist: 'once' }],
  ['a guest', { ...LASTING, scope: 'guest' }],
])('%s makes no first ring', async (_, access) => {
  const { service, rings } = deviceWith(access);
  expect(await codeOf(rings.create({ kind: 'web' }))).toBe('not_lasting');
  expect(service.rings).toEqual([]);
});

test('rings that a service has no more at all come back only when the user says so', async () => {
  const { service, rings } = deviceWith(LASTING);
  const { ring } = await rings.create({ kind: 'cli' });
  service.rings = [];
  expect(await codeOf(rings.current())).toBe('keys_gone');
  expect(await codeOf(rings.create({ kind: 'cli' }))).toBe('keys_gone');
  expect(service.rings).toEqual([]);
  const anew = await rings.create({ kind: 'cli', anew: true });
  expect([anew.ring.body.n, anew.ring.body.key_id === ring.body.key_id]).toEqual([1, false]);
});
