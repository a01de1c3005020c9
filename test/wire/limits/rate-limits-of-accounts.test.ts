import { LIMITS } from '../../../shared/contract/limits.ts';
import { RATES } from '../../../shared/contract/rates.ts';
import type { Deletion } from '../../../shared/contract/modules/keys.ts';
import { makeDevice, randomUser } from '../../support/device.ts';
import { keyed, makeRing, signParts } from '../../support/sealed/keyring.ts';
import { type Site, startSite } from '../../support/site.ts';
import { expectProblem, request, type WireAnswer } from '../../support/wire.ts';

/* Limits are at a sixtieth: messages 2 a minute, offers, clipboard and keys 1, signals 10. */

const SERVICE = 'https://baton.example';

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '0.0167', APP_SERVICE_ID: SERVICE }, { alone: true });
});
afterAll(() => site.stop());

test.each([
  ['messages', 'message', 'POST', '/api/message', { to: 'Target', content: 'x' }],
  ['offers', 'transfer', 'POST', '/api/transfer/init', { to: 'Target', files: [{ name: 'x', size: 1 }] }],
  ['signals', 'signal', 'POST', '/api/hub/signal', { to: 'Target', kind: 'bye', payload: null }],
  ['clipboards', 'clipboard', 'PUT', '/api/clipboard', { content: 'x', content_type: 'text/plain' }],
  ['removals of keys', 'keys', 'DELETE', '/api/keys', {}],
] as const)('%s of many devices of an account are counted together too', async (_, group, method, path, body) => {
  const user = randomUser();
  await makeDevice({ user, name: 'Target' }).on(site.one).call('getMe');
  const ofDevice = Math.max(1, Math.floor(RATES[group].limit * 0.0167));
  const answers: WireAnswer[] = [];
  for (let i = 0; i <= LIMITS.accountRates; i++) {
    const { headers } = makeDevice({ user, name: `Sender ${i}` });
    for (let sent = 0; sent < ofDevice; sent++) {
      answers.push(await request(site.one, { method, path, headers, body }));
    }
  }

  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.findIndex(({ status }) => status === 429)).toBeGreaterThanOrEqual(
    (LIMITS.accountRates - 1) * ofDevice,
  );
  expectProblem(refused[0] as WireAnswer, 'rate_limited');
});

test('a device without keys that announces their removal again and again keeps no member from objecting', async () => {
  const [laptop, thief, phone] = await site.enrol('Laptop', 'Thief', 'Phone');
  const own = keyed(laptop);
  const account = { service: SERVICE, user: laptop.user };
  const { text } = makeRing(account, { by: own, members: [own] });
  const ring = { method: 'PUT', path: '/api/keys', body: { ring: text } };
  const put = await request(site.one, { ...ring, headers: { ...laptop.headers, 'If-Match': '"0"' } });
  expect(put.status).toBe(200);
  const announce = () => request(site.one, { method: 'DELETE', path: '/api/keys', headers: thief.headers });
  const announced = await announce();
  expect(announced.status).toBe(202);
  for (let i = 0; i < LIMITS.accountRates; i++) expectProblem(await announce(), 'rate_limited');

  const { at } = (announced.body as { deletion: Deletion }).deletion;
  const signature = signParts(own, ['baton/1 keys keep', SERVICE, laptop.user, '1', String(at)]);
  const kept = await request(site.one, {
    ...{ method: 'POST', path: '/api/keys/keep', headers: phone.headers },
    body: { device_id: own.id, n: 1, signature },
  });
  expect(kept.status).toBe(204);
});
