import { makeKeys } from '../../services/sync/redis/keys.ts';
import { type Site, startSite } from '../support/site.ts';

/* What is due and the index of it lie in two places, and a failover may take a tail from one of them. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_CLIPBOARD_TTL_SECONDS: '1', APP_DUE_REPAIR_SECONDS: '1' }, { alone: true });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

test('what is due is done although the index has lost its account', async () => {
  const [laptop] = await site.enrol('Laptop');
  // It stands in the index from the moment it is attached, and its next sweep is a minute away.
  const stream = site.listen(laptop, site.one);
  await stream.next('ready');
  const keys = makeKeys(site.prefix);
  const account = encodeURIComponent(laptop.user);
  const shard = keys.dueShard(account);

  await laptop.on(site.one).call('setClipboard', { body: { content: 'x', content_type: 'text/plain' } });
  expect(await site.redis.zrem(keys.dueIndex(shard), account)).toBe(1);
  await site.redis.hdel(keys.dueStamps(shard), account);

  await stream.next('clipboard:cleared');
  const metrics = await (await fetch(`${site.one.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(/^baton_due_reindexed_total [1-9]/m);
});
