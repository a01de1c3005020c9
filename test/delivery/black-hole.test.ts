import { makeDevice, randomUser } from '../support/device.ts';
import { expectPromised } from '../support/promised.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { startReplica, stopReplicas } from '../support/replicas.ts';
import { type StoreWay, startStoreWay } from '../support/redis/store-way.ts';

/* Connections that stay open and carry nothing any more, on whatever store there is. */

afterEach(stopReplicas);

/** What took longer did not come by itself: it was found missing. */
const LIVE_WITHIN_MS = 1_000;

/** So many live ones in a row are no catching up that was just under way. */
const LIVE_IN_A_ROW = 20;

const FLOWS_WITHIN_MS = 10_000;

async function startPair() {
  const way = await startStoreWay();
  const keyPrefix = randomPrefix();
  const [one, two] = await Promise.all([
    startReplica({ redisUrl: sharedRedisUrl(), keyPrefix }),
    startReplica({ redisUrl: way.redisUrl, keyPrefix, env: way.env }),
  ]);
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const onPhone = makeDevice({ user, name: 'Phone' }).listen(two);
  await onPhone.next('ready');
  const send = async (content: string) => {
    await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content } });
    const acceptedAt = performance.now();
    const { at } = await onPhone.next('message', ({ data }) => data.content === content, 40_000);
    return { at, waitedMs: at - acceptedAt };
  };
  return { way, one, two, onPhone, send };
}

/**
 * Sends one message after the other to the replica to whose way this is done. Resolves to how long it took until all came
 * by themselves again, and how long the slowest was under way.
 */
async function flowAfter(harm: (way: StoreWay) => void, metrics: RegExp[] = []) {
  const { way, two, onPhone, send } = await startPair();
  for (let i = 0; i < LIVE_IN_A_ROW; i++) await send(`before ${i}`);
  const harmedAt = performance.now();
  harm(way);
  let [flowsAgainMs, slowestMs] = [0, 0];
  for (let i = 0, live = 0; live < LIVE_IN_A_ROW; i++) {
    const { at, waitedMs } = await send(`after ${i}`);
    live = waitedMs < LIVE_WITHIN_MS ? live + 1 : 0;
    if (live === 0) flowsAgainMs = at - harmedAt;
    slowestMs = Math.max(slowestMs, waitedMs);
  }
  // Something was in the hole.
  expect(slowestMs).toBeGreaterThan(LIVE_WITHIN_MS);
  expect(onPhone.events.filter(({ name }) => name === 'ready')).toHaveLength(1);
  const text = await (await fetch(`${two.adminUrl}/metrics`)).text();
  for (const metric of metrics) expect(text).toMatch(metric);
  await onPhone.stop();
  await stopReplicas();
  await way.stop();
  return { flowsAgainMs, slowestMs };
}

// Proves G1.
test('events flow again within ten seconds to a replica whose subscriber was cut off without a sound', async () => {
  const foundByItself = [/^baton_bus_rebuilds_total 1$/m, /^baton_gap_repairs_total\{source="rebuilt"\} [1-9]/m];
  await expectPromised(FLOWS_WITHIN_MS, async () => {
    const { flowsAgainMs } = await flowAfter((way) => way.silence('baton:subscriber'), foundByItself);
    return flowsAgainMs;
  });
}, 180_000);

test('events flow again within ten seconds to a replica to which all its connections fell silent, but new ones work', async () => {
  // Commands too: what it asks is done, and it never hears of it. When in a beat that begins is chance.
  for (let i = 0; i < 3; i++) {
    await expectPromised(FLOWS_WITHIN_MS, async () => (await flowAfter((way) => way.swallowAnswers())).flowsAgainMs);
  }
}, 360_000);
