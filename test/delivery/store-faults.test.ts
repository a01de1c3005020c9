import { BatonError } from '../../shared/contract/errors.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { expectPromised } from '../support/promised.ts';
import { connectTo } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas, untilBeat } from '../support/replicas.ts';
import { recordStream } from '../support/stream-recorder.ts';
import { startTcpProxy } from '../support/redis/tcp-proxy.ts';

/*
 * All tests share one store and two replicas, so a test meets what an earlier fault left behind. Each has users of its own. The
 * test that loses a replica comes last.
 */

let redis: OwnRedis;
let one: ReplicaProcess;
let two: ReplicaProcess;

const start = () => startReplica({ redisUrl: redis.url, keyPrefix: 'baton' });

beforeAll(async () => {
  redis = await startOwnRedis();
  [one, two] = await Promise.all([start(), start()]);
});

afterEach(() => redis.resume());

afterAll(async () => {
  await stopReplicas();
  await redis.stop();
});

async function startPair() {
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone' });
  const onLaptop = laptop.listen(one);
  const onPhone = phone.listen(two);
  await Promise.all([onLaptop.next('ready'), onPhone.next('ready')]);
  const send = (content: string) => laptop.on(one).call('sendMessage', { body: { to: 'Phone', content }, retries: 0 });
  return { user, laptop, phone, onLaptop, onPhone, send };
}

const faults = {
  paused: { away: async () => redis.pause(), back: async () => redis.resume() },
  killed: { away: () => redis.kill(), back: () => redis.start() },
};

// Proves G21, G22.
test.each(Object.entries(faults))(
  'while the store is %s writes answer 503 within 3 s and streams stay open and say so; then delivery goes on',
  async (_, { away, back }) => {
    const attempt = async (): Promise<number> => {
      const { onLaptop, onPhone, send } = await startPair();
      await send('before');
      await onPhone.next('message', ({ data }) => data.content === 'before');

      await away();
      const askedAt = performance.now();
      const refusal = await send('lost').catch((error: unknown) => error);
      const answeredAfterMs = performance.now() - askedAt;
      await Promise.all([onLaptop.next('degraded'), onPhone.next('degraded')]);
      await back();
      await Promise.all([onLaptop.next('restored'), onPhone.next('restored')]);
      await send('after');
      await onPhone.next('message', ({ data }) => data.content === 'after');

      expect(refusal).toBeInstanceOf(BatonError);
      expect((refusal as BatonError).code).toBe('store_unavailable');
      expect(onPhone.events.filter(({ name }) => name === 'ready')).toHaveLength(1);
      await Promise.all([onLaptop.stop(), onPhone.stop()]);
      return answeredAfterMs;
    };
    await expectPromised(3_000, attempt);
  },
);

test('nobody is shown offline because the store was away for longer than a row is good for', async () => {
  const { user, laptop, onLaptop, onPhone, send } = await startPair();
  const present = async () => (await laptop.on(one).call('getPresence')).body.devices.filter(({ online }) => online);
  await until(present, ({ length }) => length === 2, 'both to be online');
  const toRedis = connectTo(redis.url);
  const ageRows = async (ms: number) => {
    const rows = await toRedis.hgetall(`baton:{${user}}:routes`);
    for (const [stream, row] of Object.entries(rows)) {
      const [channel, device, generation, , ...rest] = row.split('\n');
      const aged = [channel, device, generation, Date.now() - ms, ...rest].join('\n');
      await toRedis.hset(`baton:{${user}}:routes`, stream, aged);
    }
  };
  // Rows are good for 150 s. This shows the last seconds of a long outage: the rows are as old as if it had begun two minutes
  // ago.
  await ageRows(145_000);
  redis.pause();
  const pausedAt = performance.now();
  await Promise.all([onLaptop.next('degraded'), onPhone.next('degraded')]);
  await new Promise((resolve) => setTimeout(resolve, pausedAt + 8_000 - performance.now()));
  const before = [onLaptop.events.length, onPhone.events.length];
  redis.resume();
  await Promise.all([onLaptop.next('restored'), onPhone.next('restored')]);
  // The rows are that old until the streams have been attached again.
  await ageRows(153_000);
  const { body: sent } = await send('all is well');
  await onPhone.next('message', ({ data }) => data.content === 'all is well');
  expect(sent.to).toEqual([expect.objectContaining({ name: 'Phone', online: true })]);
  await ageRows(153_000);
  const files = [{ name: 'a', size: 1 }];
  const offer = await laptop.on(one).call('initTransfer', { body: { to: 'Phone', files } });
  expect(offer.body.receiver_online).toBe(true);
  await ageRows(153_000);
  const signal = await laptop.on(one).call('sendSignal', { body: { to: 'Phone', kind: 'candidate', payload: {} } });
  expect(signal.body.delivered).toBe(true);

  const told = [...onLaptop.events.slice(before[0]), ...onPhone.events.slice(before[1])];
  const offline = told.filter(({ name, data }) => name === 'presence' && data.devices.some(({ online }) => !online));
  expect(offline).toEqual([]);
  toRedis.disconnect();
  await Promise.all([onLaptop.stop(), onPhone.stop()]);
});

test('streams that are refused while the store is away are not told to it, one after the other, when it is back', async () => {
  const { laptop, onLaptop, onPhone, user } = await startPair();
  redis.pause();
  await Promise.all([onLaptop.next('degraded'), onPhone.next('degraded')]);
  const openings = Array.from({ length: 20 }, async () => {
    const answer = await fetch(`${one.url}/api/hub/events`, { headers: laptop.headers });
    return { status: answer.status, text: await answer.text() };
  });
  for (const { status, text } of await Promise.all(openings)) {
    expect(status).toBe(200);
    expect(text).toMatch(/event: reconnect\ndata: .*"store"/);
  }
  redis.resume();
  await Promise.all([onLaptop.next('restored'), onPhone.next('restored')]);

  // Ends are told in the order in which the streams closed, so everything else comes before this one.
  await onLaptop.stop();
  const look = connectTo(redis.url);
  const closedRows = async () =>
    Object.values(await look.hgetall(`baton:{${user}}:routes`)).filter((row) => !row.endsWith('\n0')).length;
  await until(closedRows, (count) => count > 0, 'the end of the stream');
  expect(await closedRows()).toBe(1);
  look.disconnect();
  await onPhone.stop();
});

// Proves G1, G18.
test('when the store loses everything, open streams are told and delivery goes on', async () => {
  const { laptop, onLaptop, onPhone, send } = await startPair();
  await send('before');
  await onPhone.next('message', ({ data }) => data.content === 'before');

  const look = connectTo(redis.url);
  await look.flushall();
  const [{ data: onOne }, { data: onTwo }] = await Promise.all([onLaptop.next('ready'), onPhone.next('ready')]);
  await send('after');
  await onPhone.next('message', ({ data }) => data.content === 'after');
  const { body: presence } = await laptop.on(one).call('getPresence');

  expect(presence.devices.map(({ name, online }) => `${name} ${online}`).sort()).toEqual(['Laptop true', 'Phone true']);
  expect(onOne).toMatchObject({ resumed: false, reason: 'store_lost' });
  expect(onTwo).toMatchObject({ resumed: false, reason: 'store_lost' });
  await look.quit();
  await Promise.all([onLaptop.stop(), onPhone.stop()]);
});

test('a store that stalls and wakes up empty, while a replica stalls as well, leaves no stream without events and no presence wrong', async () => {
  const { laptop, onLaptop, onPhone, send } = await startPair();
  await send('before');
  await onPhone.next('message', ({ data }) => data.content === 'before');
  const look = connectTo(redis.url);

  redis.pause();
  await Promise.all([onLaptop.next('degraded'), onPhone.next('degraded')]);
  two.process.kill('SIGSTOP');
  redis.resume();
  await look.flushall();
  const { data: onOne } = await onLaptop.next('ready');
  two.process.kill('SIGCONT');
  const { data: onTwo } = await onPhone.next('ready');
  await send('after');
  await onPhone.next('message', ({ data }) => data.content === 'after');
  const { body: presence } = await laptop.on(one).call('getPresence');

  expect(onOne).toMatchObject({ resumed: false, reason: 'store_lost' });
  expect(onTwo).toMatchObject({ resumed: false, reason: 'store_lost' });
  expect(presence.devices.map(({ name, online }) => `${name} ${online}`).sort()).toEqual(['Laptop true', 'Phone true']);
  await look.quit();
  await Promise.all([onLaptop.stop(), onPhone.stop()]);
});

// Proves G2, G3.
test('unacknowledged messages come again once on a stream, also when the store fails in the middle of them', async () => {
  const proxy = await startTcpProxy(redis.url);
  const behindProxy = await startReplica({ redisUrl: proxy.url, keyPrefix: 'baton' });
  const { phone, onLaptop, onPhone, send } = await startPair();
  // More than one page.
  const contents = Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(4_000)}`);
  for (const content of contents) await send(content);

  const { asked, release } = proxy.hold(`${phone.id}:`);
  const again = recordStream({ baseUrl: behindProxy.url, headers: phone.headers, dropDuplicates: false });
  await asked;
  await redis.kill();
  const metrics = async () => (await fetch(`${behindProxy.adminUrl}/metrics`)).text();
  const failed = /^baton_background_failures_total\{task="catch-up"/m;
  await until(metrics, (text) => failed.test(text), 'the second page to fail');
  release();
  await redis.start();
  await again.next('message', ({ data }) => data.content === contents.at(-1));

  const sentAgain = again.events.filter(({ name }) => name === 'message');
  expect(sentAgain.map(({ data }) => (data as { content: string }).content)).toEqual(contents);
  await Promise.all([onLaptop.stop(), onPhone.stop(), again.stop(), behindProxy.stop()]);
  await proxy.stop();
});

// Proves G10.
test('a message whose answer from the store was cut off is accepted once', async () => {
  const proxy = await startTcpProxy(redis.url);
  const behindProxy = await startReplica({ redisUrl: proxy.url, keyPrefix: 'baton' });
  const { laptop, phone, onLaptop, onPhone, send } = await startPair();
  const toRedis = connectTo(redis.url);

  for (let round = 0; round < 5; round++) {
    const content = `only once ${round}`;
    await untilBeat(behindProxy, toRedis, 'baton');
    const cut = proxy.cutBeforeAnswerTo(content);
    const { status } = await laptop.on(behindProxy).call('sendMessage', { body: { to: 'Phone', content }, retries: 0 });
    await cut;
    expect(status).toBe(201);
  }
  await send('a later one');
  await onPhone.next('message', ({ data }) => data.content === 'a later one');

  const { body } = await phone.on(one).call('listMessages');
  expect(body.messages.map(({ content }) => content)).toEqual([
    ...Array.from({ length: 5 }, (_, round) => `only once ${round}`),
    'a later one',
  ]);
  expect(onPhone.events.filter(({ name }) => name === 'message')).toHaveLength(6);
  await Promise.all([onLaptop.stop(), onPhone.stop(), behindProxy.stop()]);
  toRedis.disconnect();
  await proxy.stop();
});

test('a replica that dies before it notices that the store lost everything leaves nobody online', async () => {
  const { user, laptop, onLaptop, onPhone } = await startPair();
  const tablet = makeDevice({ user, name: 'Tablet' });
  const isOnline = async () =>
    (await laptop.on(one).call('getPresence')).body.devices.find(({ name }) => name === 'Tablet')?.online;

  // The others do not miss a replica that they never knew: its rows count until they are too old.
  const metricsOfOne = async () => (await fetch(`${one.adminUrl}/metrics`)).text();
  await until(metricsOfOne, (text) => /^baton_nodes_live 2$/m.test(text), 'the replicas to know of each other');
  const look = connectTo(redis.url);
  await look.flushall();
  // This is not the account's first stream on this replica, which has until its next beat to notice that its lease is gone.
  const onTablet = tablet.listen(two);
  await onTablet.next('ready');
  expect(await isOnline()).toBe(true);
  two.process.kill('SIGKILL');
  const diedAt = performance.now();

  // The lease is gone as well, so the replica counts as one that may have left another id. That takes 12 s more.
  await until(isOnline, (online) => online === false, 'the tablet to be offline');
  // The device does not have to wait for the sweep of the account, a minute after the other replica began.
  expect(performance.now() - diedAt).toBeLessThan(45_000);
  await look.quit();
  await Promise.all([onLaptop.stop(), onPhone.stop(), onTablet.stop()]);
});
