import { makeBreaker } from '../../../services/sync/sessions/auth-broker/breaker.ts';
import { makeStoreFault } from '../../../services/sync/sessions/auth-broker/store-fault.ts';
import { BatonError } from '../../../shared/contract/errors.ts';

const faultOf = (isStoreUp: boolean, error: unknown): string =>
  (makeStoreFault({ isStoreUp: () => isStoreUp })(error) as BatonError).code;

const away = (cause?: unknown): BatonError => new BatonError('broker_unavailable', undefined, { cause });
const saying = (code: string) => ({ status: 503, body: { code } });

test('a broker that says that its store is away or full is not at fault itself', () => {
  for (const code of ['store_unavailable', 'store_full']) expect(faultOf(true, away(saying(code)))).toBe(code);
});

test('a broker that is not heard while the store of the replica is away too is not blamed', () => {
  expect(faultOf(false, away(new Error('timeout')))).toBe('store_unavailable');
});

test.each([
  away(),
  away(new Error('timeout')),
  away(saying('draining')),
  away({ status: 502, body: undefined }),
  away({ status: 503, body: null }),
])('a broker that is away while the store is there is blamed', (error) => {
  expect(faultOf(true, error)).toBe('broker_unavailable');
});

test('the truth stays while the broker is not asked, because it has failed so often', async () => {
  const breaker = makeBreaker({ onChange: () => {} });
  const fails = () =>
    breaker.call(
      () => Promise.reject(away(saying('store_unavailable'))),
      () => true,
    );
  const errors: unknown[] = [];
  for (let i = 0; i < 6; i++) await fails().catch((error: unknown) => errors.push(error));
  expect((errors[5] as BatonError).message).toMatch(/did not answer lately/);
  expect(errors.map((error) => faultOf(true, error))).toEqual(Array(6).fill('store_unavailable'));
});

test('other errors stay what they are', () => {
  const error = new BatonError('not_found');
  expect(makeStoreFault({ isStoreUp: () => false })(error)).toBe(error);
});
