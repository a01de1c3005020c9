import { LIMITS } from '../../../shared/contract/limits.ts';
import { RATES } from '../../../shared/contract/rates.ts';
import { makeDevice, randomUser } from '../../support/device.ts';
import { type Site, startSite } from '../../support/site.ts';
import { expectProblem, request, type WireAnswer } from '../../support/wire.ts';

/* Limits are at a sixtieth: messages 2 a minute, offers and clipboard 1, signals 10. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '0.0167' }, { alone: true });
});
afterAll(() => site.stop());

test.each([
  ['messages', 'message', 'POST', '/api/message', { to: 'Target', content: 'x' }],
  ['offers', 'transfer', 'POST', '/api/transfer/init', { to: 'Target', files: [{ name: 'x', size: 1 }] }],
  ['signals', 'signal', 'POST', '/api/hub/signal', { to: 'Target', kind: 'bye', payload: null }],
  ['clipboards', 'clipboard', 'PUT', '/api/clipboard', { content: 'x', content_type: 'text/plain' }],
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
