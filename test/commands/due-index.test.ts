import { makeKeys } from '../../services/sync/redis/keys.ts';
import { bindScript } from '../../shared/service-kit/redis/scripts/bound-script.ts';
import type { Given, ScriptDeclaration } from '../../shared/service-kit/redis/scripts/script.ts';
import { dueClaim, dueJobs, dueSchedule, dueSettle } from '../../services/sync/due/scripts.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import { type Site, startSite } from '../support/site.ts';

/* Due things and their index lie in two places, and a failover may take a tail from one of them. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_CLIPBOARD_TTL_SECONDS: '3', APP_DUE_REPAIR_SECONDS: '1' }, { alone: true });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

test('what is due is done although the index has lost its account', async () => {
  const [laptop] = await site.enrol('Laptop');
  // The account is in the index from the moment when the stream is attached, and its next sweep is a minute away.
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

test('what is due is done although the index would lead to it a day later', async () => {
  // There is no stream here, because its sweep would find the text too.
  const [laptop] = await site.enrol('Laptop');
  await laptop.on(site.one).call('setClipboard', { body: { content: 'x', content_type: 'text/plain' } });
  const keys = makeKeys(site.prefix);
  const account = encodeURIComponent(laptop.user);
  const shard = keys.dueShard(account);
  expect(await site.redis.zadd(keys.dueIndex(shard), Date.now() + 86_400_000, account)).toBe(0);
  await site.redis.hdel(keys.dueStamps(shard), account);

  const hasPending = async () => (await site.redis.zscore(keys.due(account), 'clipboard')) !== null;
  expect(await hasPending()).toBe(true);
  while (await hasPending()) await new Promise((resolve) => setTimeout(resolve, 50));
});

describe('an account with something far off', () => {
  const [DAY_MS, HOUR_MS, MINUTE_MS] = [86_400_000, 3_600_000, 60_000];

  /** Runs the steps of replicas one by one, on an index of its own. */
  async function makeIndex() {
    const keys = makeKeys(randomPrefix());
    const both = { index: keys.dueIndex(0), stamps: keys.dueStamps(0) };
    const { index, stamps } = both;
    async function run<K extends string, A, R>(
      script: ScriptDeclaration<K, A, R, never>,
      on: Record<K, string>,
      args: Given<A>,
    ): Promise<R> {
      const { text, keyCount, words, read } = bindScript(script, false, []);
      return read((await site.redis.eval(text, keyCount, ...words(on, args))) as string[]);
    }
    await site.redis.zadd(keys.due('ann'), Date.now() + DAY_MS, 'transfer:1');
    return {
      note: (delayMs: number) => run(dueSchedule, both, { account: 'ann', delayMs, nonce: String(Math.random()) }),
      remind: (delayMs: number) => run(dueSchedule, both, { account: 'ann', delayMs, nonce: '' }),
      /** Pretends that the latest note came this long ago. */
      noteAged: (ageMs: number) => site.redis.hset(stamps, 'ann', `${Date.now() - ageMs}-old`),
      /** Runs a sweep, and `meanwhile` between its look at the account and its end. */
      async sweep(meanwhile: () => Promise<unknown> = () => Promise.resolve()) {
        const { claimed } = await run(dueClaim, both, { count: 1 });
        expect(claimed).toEqual([{ account: 'ann', stamp: expect.any(String) }]);
        const { nextInMs } = await run(dueJobs, { due: keys.due('ann') }, { passed: 0 });
        await meanwhile();
        const claimedStamp = claimed[0]?.stamp ?? '';
        await run(dueSettle, both, { account: 'ann', claimedStamp, nextInMs });
      },
      /** Returns the ms until a sweep looks at the account. */
      lookedAtInMs: async () => Number(await site.redis.zscore(index, 'ann')) - Date.now(),
    };
  }

  test('is looked at soon when it was noted during the look: a replica may note it, write what is due, and die', async () => {
    const { note, noteAged, sweep, lookedAtInMs } = await makeIndex();
    await note(0);
    await noteAged(HOUR_MS);
    await sweep(() => note(2_000));
    expect(await lookedAtInMs()).toBeLessThan(MINUTE_MS);
  });

  test('is not looked at again and again because its streams are swept', async () => {
    const { note, remind, noteAged, sweep, lookedAtInMs } = await makeIndex();
    await note(0);
    await noteAged(HOUR_MS);
    await sweep(() => remind(DAY_MS));
    await remind(DAY_MS);
    expect(await lookedAtInMs()).toBeGreaterThan(HOUR_MS);
  });

  test('is looked at again soon when it was scheduled and its job may not be there yet, and when the longest request is over', async () => {
    const { note, noteAged, sweep, lookedAtInMs } = await makeIndex();
    await note(0);
    await sweep();
    expect(await lookedAtInMs()).toBeLessThan(MINUTE_MS);
    await note(0);
    await noteAged(MINUTE_MS);
    await sweep();
    expect(await lookedAtInMs()).toBeLessThan(15 * MINUTE_MS);
    await note(0);
    await noteAged(HOUR_MS);
    await sweep();
    expect(await lookedAtInMs()).toBeGreaterThan(HOUR_MS);
  });
});
