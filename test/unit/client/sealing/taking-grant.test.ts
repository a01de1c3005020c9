import { BatonClientError } from '../../../../shared/client/errors/baton-client-error.ts';
import { publicKeysOf } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { keepDeviceKeys, memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { sealGrant } from '../../../../shared/client/sealed/link/grant.ts';
import { makeLinkSecret } from '../../../../shared/client/sealed/link/link-code.ts';
import { toBase64url } from '../../../../shared/client/sealed/primitives/bytes.ts';
import type { KeptGrant } from '../../../../shared/client/sealing/api.ts';
import { makeRings } from '../../../../shared/client/sealing/rings.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { ACCOUNT, codeOf, firstRing, keyringOf, makePerson, nextRing, NOW } from '../sealed/people.ts';

const REQUEST = 'AAAAAAAAAAAAAAAAAAAAAA';
const away = new BatonClientError('draining', 'away', { action: 'retry' });

/** A phone whose approval by a laptop is kept, and a service of these answers about rings; then it answers as usual. */
async function approved(...answers: Error[]) {
  const [laptop, asking, keys] = [await makePerson('laptop-1'), memoryKeys(), memoryKeys()];
  const own = await publicKeysOf((await keepDeviceKeys(asking)).keys);
  const first = await firstRing(laptop);
  const ring = await nextRing(first, laptop, { add: [{ device_id: 'phone-1', kind: 'web', ...own }] });
  const keyring = await keyringOf(laptop, [first, ring]);
  const secret = makeLinkSecret();
  const asked = { request_id: REQUEST, device_id: 'phone-1', keys: own };
  const { sealed, checkCode } = await sealGrant(keyring, asked, secret);

  let kept: KeptGrant | null = { request_id: REQUEST, sealed, secret: toBase64url(secret) };
  const grant = { load: async () => kept, save: async () => {}, clear: async () => void (kept = null) };
  let reads = 0;
  const call = async (name: string) => {
    if (name === 'getMe') return { body: { service: ACCOUNT.service, features: { sealed: true } } };
    reads += 1;
    const error = answers[reads - 1];
    if (error !== undefined) throw error;
    return { body: { rings: [ring.text], n: 2, guests: null, deletions: [] } };
  };
  const session = { device: { device_id: 'phone-1' }, user: { user_id: ACCOUNT.user_id } };
  const times = { serverNow: () => NOW, trustedNow: () => NOW };
  const calls = { caller: { call }, ...times, session: async () => session } as unknown as SealingCalls;
  return { checkCode, rings: makeRings(calls, { keys, asking, grant }), isKept: () => kept !== null };
}

/** No error: the service answers. */
const fine = undefined as unknown as Error;

test('an approval that was taken tells its digits, although the newest ring cannot be fetched then', async () => {
  const { checkCode, rings, isKept } = await approved(fine, away);
  const linked = await rings.takeGrant();
  expect(linked).toMatchObject({ checkCode, approver: 'laptop-1', keyring: { device_id: 'phone-1' } });
  expect([linked?.keyring.ring.body.n, isKept()]).toEqual([2, false]);
  expect((await rings.current())?.ring.body.n).toBe(2);
});

test('an approval stays while the ring that it names cannot be fetched', async () => {
  const { checkCode, rings, isKept } = await approved(away);
  expect(await codeOf(rings.takeGrant())).toBe('draining');
  expect(isKept()).toBe(true);
  expect((await rings.takeGrant())?.checkCode).toBe(checkCode);
});

test('a ring for content is the newest one, also for a program that takes an approval by itself', async () => {
  const { rings } = await approved(fine, away);
  expect(await codeOf(rings.current())).toBe('draining');
  expect((await rings.current())?.ring.body.n).toBe(2);
});

test('an approval that was taken does not hide that the service shows other rings', async () => {
  const gone = new BatonClientError('not_found', 'no keys');
  const { rings } = await approved(fine, gone);
  expect(await codeOf(rings.takeGrant())).toBe('keys_gone');
});
