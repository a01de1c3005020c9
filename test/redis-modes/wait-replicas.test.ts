import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { makeDevice, randomUser } from '../support/device.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import { startRedisCluster } from '../support/redis/redis-cluster.ts';
import { type RedisProcess, until } from '../support/redis/redis-processes.ts';
import { startRedisSentinel } from '../support/redis/redis-sentinel.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { keyed, type MadeRing, makeRing } from '../support/sealed/keyring.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';

/** A store with replicas, in the form that the tests need. Keys are those of an account. */
interface Shelf {
  readonly url: string;
  readonly env: Record<string, string>;
  /** How many replicas each primary has. */
  readonly replicas: number;
  primaryOf(key: string): Promise<RedisProcess>;
  /** Returns the replicas that follow the primary now. */
  replicasOf(key: string): Promise<RedisProcess[]>;
  /** Makes another server the primary without a death. */
  moveInGoodOrder(key: string): Promise<unknown>;
  /** Kills the primary at the moment when `when` resolves. Resolves when there is another one. */
  killPrimaryOf(key: string, when: Promise<unknown>): Promise<unknown>;
  stop(): Promise<void>;
}

async function startSentinelShelf(): Promise<Shelf> {
  const replicas = 3;
  const site = await startRedisSentinel({ replicas });
  return {
    url: site.url,
    env: {},
    replicas,
    primaryOf: site.primary,
    replicasOf: site.replicas,
    async killPrimaryOf(_, when) {
      const primary = await site.primary();
      await when;
      await primary.kill();
      return site.promotedInsteadOf(primary);
    },
    moveInGoodOrder: site.failover,
    stop: site.stop,
  };
}

async function startClusterShelf(): Promise<Shelf> {
  const { url, slotOf, shardOf, primaryOf, killPrimaryOf, failover, moveSlot, stop } = await startRedisCluster();
  return {
    url,
    env: { APP_REDIS_MODE: 'cluster' },
    replicas: 1,
    primaryOf,
    // A server whose primary was killed follows nobody.
    replicasOf: async (key) => {
      const [, replica] = await shardOf(await slotOf(key)).catch(() => []);
      return replica === undefined ? [] : [replica];
    },
    killPrimaryOf,
    async moveInGoodOrder(key) {
      await moveSlot(await slotOf(key));
      await failover(key);
    },
    stop,
  };
}

/** More than the sockets between a primary and its replica hold, so that later writes stay in the primary. */
const BACKLOG_BYTES = 32 * 1024 * 1024;

/** The pause between messages that nobody acknowledges: a mailbox holds 500, and a failover may be slow. */
const PACE_MS = 25;

async function writeBacklog({ port }: RedisProcess, key: string): Promise<void> {
  const redis = new Redis({ port, host: '127.0.0.1' });
  const text = 'x'.repeat(BACKLOG_BYTES / 4);
  for (let i = 0; i < 4; i++) await redis.set(key, text);
  await redis.quit();
}

describe.each([
  ['Sentinel', startSentinelShelf],
  ['Redis Cluster', startClusterShelf],
])('where messages wait for one replica, behind %s', (_, startShelf) => {
  const prefix = randomPrefix();
  const keyOf = (user: string, what: string) => `${prefix}:{${user}}:${what}`;
  let shelf: Shelf;
  let baton: ReplicaProcess;
  const paused = new Set<RedisProcess>();

  const startWaiting = (replicas: number) =>
    startReplica({
      ...{ redisUrl: shelf.url, keyPrefix: prefix },
      env: { ...shelf.env, APP_MESSAGE_WAIT_REPLICAS: String(replicas) },
    });
  beforeAll(async () => {
    shelf = await startShelf();
    baton = await startWaiting(1);
  });
  afterEach(() => {
    for (const server of paused) server.resume();
  });
  afterAll(async () => {
    await stopReplicas();
    await shelf.stop();
  });

  async function startPair(through = baton, user = randomUser()) {
    const laptop = makeDevice({ user, name: 'Laptop' });
    const phone = makeDevice({ user, name: 'Phone' });
    const onPhone = phone.listen(through);
    await onPhone.next('ready');
    await laptop.on(through).call('getMe');
    const send = (content: string, key: string = randomUUID()) =>
      request(through, {
        ...{ method: 'POST', path: '/api/message', body: { to: 'Phone', content } },
        headers: { ...laptop.headers, 'Idempotency-Key': key },
      });
    const mail = async () =>
      (await phone.on(through).call('listMessages')).body.messages.filter(({ content }) => content !== 'the first');
    // The connection that asks for replicas must be older than the writes that it asks about. Right after a failover it
    // may be closed once more, when the last sentinel announces it.
    const first = await until(
      () => send('the first'),
      ({ status }) => status === 201,
      'a replica to confirm',
    );
    await onPhone.next('message', ({ data }) => data.message_id === idIn(first));
    const [primary, replicas] = [await shelf.primaryOf(keyOf(user, 'log')), await shelf.replicasOf(keyOf(user, 'log'))];
    return { user, laptop, phone, onPhone, send, mail, primary, replicas };
  }
  function pauseAll(replicas: RedisProcess[]): void {
    for (const replica of replicas) {
      paused.add(replica);
      replica.pause();
    }
  }
  /** In a cluster, a shard whose primary was killed has no replica left and never confirms. */
  async function userWithReplica(): Promise<string> {
    for (;;) {
      const user = randomUser();
      if ((await shelf.replicasOf(keyOf(user, 'log'))).length > 0) return user;
    }
  }
  /**
   * A replica that goes on has to read the backlog in the rest of the second for which it is awaited. On a busy machine
   * the first attempt may fail. Ten attempts that end as 202, or as 503 if the machine stood still, are enough. Such a
   * machine may change the primary, so each attempt has a pair of its own.
   */
  async function untilConfirmed<T extends { answer: WireAnswer }>(
    attempt: (pair: Awaited<ReturnType<typeof startPair>>) => Promise<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const pair = await startPair(baton, await userWithReplica());
      const tried = await attempt(pair);
      await pair.onPhone.stop();
      if (tried.answer.status === 201 || tries === 10) return tried;
      if (tried.answer.status === 503) continue;
      await until(
        () => Promise.all(pair.replicas.map((replica) => has(replica, pair.user, idIn(tried.answer)))),
        (there) => !there.includes(false),
        'the replicas to have caught up',
      );
    }
  }
  const idIn = ({ body }: { body: unknown }) => (body as { message_id: string }).message_id;

  /** Tells whether the replica has the message, by asking the replica itself. */
  async function has({ port }: RedisProcess, user: string, id: string): Promise<boolean> {
    const redis = new Redis({ port, host: '127.0.0.1', readOnly: true });
    const found = await redis.hexists(keyOf(user, 'mail'), id);
    await redis.quit();
    return found === 1;
  }

  // Proves G13.
  test('a replica that serves without the setting asks no replica, and has no connection for it', async () => {
    const plain = await startReplica({ redisUrl: shelf.url, keyPrefix: randomPrefix(), env: shelf.env });
    const user = randomUser();
    const [laptop, phone] = ['Laptop', 'Phone'].map((name) => makeDevice({ user, name }));
    for (const device of [laptop, phone]) await device?.on(plain).call('getMe');
    const body = { to: 'Phone', content: 'hello' };
    const { status } = (await laptop?.on(plain).call('sendMessage', { body })) ?? {};
    const primary = await shelf.primaryOf(`{${user}}`);
    const clients = await primary.cli('client', 'list');
    const stats = await primary.cli('info', 'commandstats');
    await plain.stop();

    expect(status).toBe(201);
    expect(clients).not.toContain('baton:confirmer');
    expect(stats).not.toContain('cmdstat_wait:');
  });

  // Proves G34.
  test('a ring is 200 when a replica has it and 202 when none does; it is in force in both cases', async () => {
    const { user, laptop, onPhone, replicas } = await startPair(baton, await userWithReplica());
    const { service = '' } = (await laptop.on(baton).call('getMe')).body;
    const own = keyed(laptop);
    const wishes = { by: own, members: [own] };
    const put = ({ text, n }: MadeRing) =>
      request(baton, {
        ...{ method: 'PUT', path: '/api/keys', body: { ring: text } },
        headers: { ...laptop.headers, 'If-Match': `"${n - 1}"` },
      });
    const confirmed = (ring: MadeRing) =>
      until(
        () => put(ring),
        ({ status }) => status === 200,
        'a replica to confirm the ring',
      );
    const first = makeRing({ service, user }, wishes);
    await confirmed(first);
    pauseAll(replicas);
    const second = makeRing({ service, user }, { ...wishes, before: first });
    const answer = await put(second);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 202, body: { n: 2 } });
    expect((await laptop.on(baton).call('getKeys', { query: { after: 1 } })).body).toMatchObject({
      rings: [second.text],
    });
    for (const replica of replicas) replica.resume();
    await confirmed(second);
    await onPhone.stop();
  });

  // Proves G14.
  test('201 comes when a replica has the message, and not before; it is delivered at once', async () => {
    const { answer, wasAnswered, there } = await untilConfirmed(async ({ user, onPhone, send, primary, replicas }) => {
      pauseAll(replicas);
      await writeBacklog(primary, keyOf(user, 'backlog'));
      let isAnswered = false;
      const sent = send('confirmed').then((it) => {
        isAnswered = true;
        return it;
      });
      await Promise.race([onPhone.next('message', ({ data }) => data.content === 'confirmed'), sent]);
      const wasAlready = isAnswered;
      for (const replica of replicas) replica.resume();
      const answered = await sent;
      const inReplicas = await Promise.all(replicas.map((replica) => has(replica, user, idIn(answered))));
      return { answer: answered, wasAnswered: wasAlready, there: inReplicas };
    });

    expect(wasAnswered).toBe(false);
    expect(answer.status).toBe(201);
    expect(there).toContain(true);
  });

  // Proves G15.
  test('with every replica stopped it is 202: accepted and delivered, and 201 by the same key once one goes on', async () => {
    const { user, onPhone, send, mail, replicas } = await startPair();
    pauseAll(replicas);
    // The answer is a 503 when the machine stood still during the wait for replicas.
    const ask = () =>
      until(
        () => send('unconfirmed', 'key'),
        ({ status }) => status !== 503,
        'an answer',
      );
    const first = await ask();
    const { data } = await onPhone.next('message', ({ data: { content } }) => content === 'unconfirmed');
    const again = await ask();
    for (const replica of replicas) replica.resume();
    const confirmed = await until(
      () => send('unconfirmed', 'key'),
      ({ status }) => status === 201,
      'a replica to confirm',
    );
    const there = await Promise.all(replicas.map((replica) => has(replica, user, idIn(confirmed))));
    const inMailbox = await mail();
    const metrics = await (await fetch(`${baton.adminUrl}/metrics`)).text();
    await onPhone.stop();

    expect([first.status, again.status, confirmed.status]).toEqual([202, 202, 201]);
    expect(first.body).toMatchObject({ message_id: data.message_id, to: [{ name: 'Phone', online: true }] });
    expect([idIn(again), idIn(confirmed)]).toEqual([idIn(first), idIn(first)]);
    expect(there).toContain(true);
    expect(inMailbox.map(({ message_id }) => message_id)).toEqual([idIn(first)]);
    expect(Number(/^baton_messages_unconfirmed_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(2);
  });

  test('two hundred at once are delivered while no replica answers, and wait for it together', async () => {
    const { onPhone, send, replicas } = await startPair();
    pauseAll(replicas);
    const startedAt = performance.now();
    const sent = Promise.all(Array.from({ length: 200 }, (__, i) => send(String(i))));
    const arrived = new Set<string>();
    const isOneOfThem = ({ data }: { data: { content: string } }) => /^\d+$/.test(data.content);
    while (arrived.size < 200) arrived.add((await onPhone.next('message', isOneOfThem)).data.message_id);
    const answers = await sent;
    const tookMs = performance.now() - startedAt;
    for (const replica of replicas) replica.resume();
    await onPhone.stop();

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(idIn))).toEqual(arrived);
    expect(tookMs).toBeLessThan(10_000);
  });

  test('what is refused, or sent to nobody, waits for no replica', async () => {
    const { laptop, onPhone, send, replicas } = await startPair();
    await send('some words', 'refused');
    pauseAll(replicas);
    const reused = await send('other words', 'refused');
    const { headers } = laptop;
    const body = { to: 'Nobody', content: 'x' };
    const nobody = await request(baton, { method: 'POST', path: '/api/message', headers, body });
    for (const replica of replicas) replica.resume();
    await onPhone.stop();

    expectProblem(reused, 'idempotency_key_reused');
    expectProblem(nobody, 'not_found');
  });

  // Proves G16.
  test('a connection that is lost while replicas are waited for is a 503, after which the key answers the message', async () => {
    const { onPhone, send, mail, primary, replicas } = await startPair();
    pauseAll(replicas);
    const sent = send('cut', 'key');
    const { data } = await onPhone.next('message', ({ data: { content } }) => content === 'cut');
    const WAITING = /^id=(\d+) .* name=baton:confirmer .* cmd=wait /m;
    const clients = await until(
      () => primary.cli('client', 'list'),
      (text) => WAITING.test(text),
      'replicas to be waited for',
    );
    await primary.cli('client', 'kill', 'id', WAITING.exec(clients)?.[1] ?? '');
    const cut = await sent;
    for (const replica of replicas) replica.resume();
    const again = await until(
      () => send('cut', 'key'),
      ({ status }) => status === 201,
      'a replica to confirm',
    );
    const inMailbox = await mail();
    await onPhone.stop();

    expectProblem(cut, 'store_unavailable');
    expect([again.status, idIn(again)]).toEqual([201, data.message_id]);
    expect(inMailbox).toHaveLength(1);
  });

  // With fewer confirmations, a primary that Sentinel has replaced still serves the other replicas for a moment.
  // Proves G17.
  test('where all replicas have to confirm, another primary in good order loses nothing that was a 201', async () => {
    const through = await startWaiting(shelf.replicas);
    const { user, onPhone, send, mail } = await startPair(through);
    const key = keyOf(user, 'log');
    const answers: WireAnswer[] = [];
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        answers.push(await send(`message ${answers.length}`));
        await new Promise((resolve) => setTimeout(resolve, PACE_MS));
      }
    })();
    await shelf.moveInGoodOrder(key);
    const last = await until(
      () => send('the last one'),
      ({ status }) => status === 201,
      'the replicas of the new primary to confirm',
    );
    isOver = true;
    await sending;
    const replicas = await until(
      () => shelf.replicasOf(key),
      ({ length }) => length === shelf.replicas,
      'the replicas of the new primary',
    );
    const there = await Promise.all(replicas.map((replica) => has(replica, user, idIn(last))));
    const inMailbox = new Set((await mail()).map(({ message_id }) => message_id));
    await onPhone.stop();
    await through.stop();

    expect(there).toEqual(Array(shelf.replicas).fill(true));
    const confirmed = answers.filter(({ status }) => status === 201);
    expect(confirmed.map(idIn).filter((id) => !inMailbox.has(id))).toEqual([]);
    expect(answers.map(({ status }) => status).filter((status) => ![201, 202, 503].includes(status))).toEqual([]);
  });

  // Proves G17.
  test('a primary that is killed right after its 201 takes no message with it, three times', async () => {
    const kept: boolean[] = [];
    while (kept.length < 3) {
      const { answer, promoted, mail } = await untilConfirmed(async (pair) => {
        const { user, onPhone, send, primary, replicas } = pair;
        let confirm = () => {};
        const confirmed = new Promise<void>((resolve) => {
          confirm = resolve;
        });
        const next = shelf.killPrimaryOf(keyOf(user, 'log'), confirmed);
        pauseAll(replicas);
        await writeBacklog(primary, keyOf(user, 'backlog'));
        const sent = send('confirmed').then((it) => {
          if (it.status === 201) confirm();
          return it;
        });
        await Promise.race([onPhone.next('message', ({ data }) => data.content === 'confirmed'), sent]);
        for (const replica of replicas) replica.resume();
        return { answer: await sent, promoted: next, mail: pair.mail };
      });
      expect(answer.status).toBe(201);
      await promoted;
      const ids = (await until(mail, () => true, 'the mailbox to be read')).map(({ message_id }) => message_id);
      kept.push(ids.includes(idIn(answer)));
    }
    expect(kept).toEqual([true, true, true]);
  }, 120_000);
});
