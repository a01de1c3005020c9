import { randomBytes } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { openAccountKeys, wrapFor } from '../../../../shared/client/sealed/ring/account-keys.ts';
import { signRing } from '../../../../shared/client/sealed/ring/ring.ts';
import { ACCOUNT, codeOf, firstRing, makePerson, nextRing, NOW } from './people.ts';

test('a member that wraps another key for a device than the ring names is found out', async () => {
  const [a, b] = [await makePerson('device-a'), await makePerson('device-b')];
  const { body } = await nextRing(await firstRing(a), a, { add: [b.asks] });
  const other = { epoch: body.epoch, key: randomBytes(32), until: null };
  const wraps = { ...body.wraps, 'device-b': await wrapFor(ACCOUNT, other, b.asks) };
  const ring = await signRing({ ...body, wraps }, a.signer.keys);
  expect(await codeOf(openAccountKeys(ring, a.signer, NOW))).toBe('taken');
  expect(await codeOf(openAccountKeys(ring, b.signer, NOW))).toBe('bad_ring');
});
