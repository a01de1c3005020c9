import { setImmediate as nextTick } from 'node:timers/promises';
import request from 'supertest';
import { makeAccountQueue, type Slot } from '../../../../services/sync/http/limits/account-queue.ts';
import { ALICE, publicApp } from '../public-app.ts';

const BOB = { 'X-Dev-User': 'bob', 'X-Dev-Device': 'phone-001' };

/** Makes numbered requests, and records which of them have begun. */
function line(queue: ReturnType<typeof makeAccountQueue>, account = 'alice') {
  const begun: number[] = [];
  const turns: Slot[] = [];
  let count = 0;
  const come = (bytes = 0): 'begins' | 'waits' | 'refused' => {
    const number = count++;
    const slot = queue.enter(account, bytes);
    if (slot === null) return 'refused';
    const begin = (given: Slot): void => {
      begun.push(number);
      turns.push(given);
    };
    if (slot instanceof Promise) {
      void slot.then(begin);
      return 'waits';
    }
    begin(slot);
    return 'begins';
  };
  return { come, begun, turns };
}

describe('requests of one account', () => {
  test('are worked on two at a time, the others in the order in which they came', async () => {
    const { come, begun, turns } = line(makeAccountQueue());
    expect([come(), come(), come(), come()]).toEqual(['begins', 'begins', 'waits', 'waits']);
    turns[1]?.end();
    await nextTick();
    await nextTick();
    expect(begun).toEqual([0, 1, 2]);
    turns[0]?.end();
    await nextTick();
    await nextTick();
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  test('do not hold up those of another one', () => {
    const queue = makeAccountQueue();
    const alice = line(queue);
    for (let i = 0; i < 100; i++) alice.come();
    expect(line(queue, 'bob').come()).toBe('begins');
  });

  test('begin after the events that are there already', async () => {
    const { come, begun, turns } = line(makeAccountQueue());
    for (let i = 0; i < 3; i++) come();
    const order: string[] = [];
    const other = nextTick().then(() => order.push(`another event, begun ${begun.length}`));
    turns[0]?.end();
    await other;
    expect(order).toEqual(['another event, begun 2']);
  });

  test('give their turn on when they wait for something else, and once only', async () => {
    const { come, begun, turns } = line(makeAccountQueue({ heldMs: 20 }));
    for (let i = 0; i < 5; i++) come();
    while (begun.length < 4) await nextTick();
    expect(begun).toEqual([0, 1, 2, 3]);
    // The two late ends do not let in a fifth request beside the two at work.
    turns[0]?.end();
    turns[1]?.end();
    await nextTick();
    await nextTick();
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  test('are refused when too many wait, or too much', () => {
    const few = line(makeAccountQueue({ mostWaiting: 2 }));
    expect(Array.from({ length: 5 }, () => few.come())).toEqual(['begins', 'begins', 'waits', 'waits', 'refused']);
    const large = line(makeAccountQueue({ mostWaitingBytes: 100 }));
    expect([large.come(90), large.come(90), large.come(90), large.come(20), large.come(5)]).toEqual([
      ...['begins', 'begins', 'waits', 'refused', 'waits'],
    ]);
  });

  test('leave nothing behind', async () => {
    const queue = makeAccountQueue();
    const { come, turns } = line(queue);
    for (let i = 0; i < 20; i++) come();
    for (let i = 0; i < 20; i++) {
      while (turns.length <= i) await nextTick();
      turns[i]?.end();
    }
    expect(queue.size).toBe(0);
  });
});

test('a request of anybody pays microseconds for its turn', () => {
  const queue = makeAccountQueue();
  const times = 20_000;
  const round = (): number => {
    const startedAt = performance.now();
    for (let i = 0; i < times; i++) (queue.enter(`account-${i % 100}`) as Slot).end();
    return ((performance.now() - startedAt) * 1_000) / times;
  };
  expect(Math.min(...Array.from({ length: 7 }, round))).toBeLessThan(10);
});

describe('a replica that works', () => {
  const gate = () => {
    const open: (() => void)[] = [];
    let begun = 0;
    return {
      open,
      begun: () => begun,
      getMe: () =>
        new Promise<never>((resolve) => {
          begun += 1;
          open.push(() => resolve({ status: 200, body: {} } as never));
        }),
    };
  };

  test('on two requests of an account answers those of another one at once', async () => {
    const { open, begun, getMe } = gate();
    const { app } = publicApp({ handlers: { getMe }, accountQueue: makeAccountQueue({ heldMs: 60_000 }) });
    const asked = Array.from({ length: 4 }, () =>
      request(app)
        .get('/api/me')
        .set(ALICE)
        .then((answer) => answer),
    );
    while (begun() < 2) await nextTick();
    await request(app).get('/api/clipboard').set(BOB).expect(200);
    expect(begun()).toBe(2);
    for (let i = 0; i < 4; i++) {
      while (open.length <= i) await nextTick();
      open[i]?.();
    }
    for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
  });

  test('says so when no more of an account may wait', async () => {
    const { open, begun, getMe } = gate();
    const { app } = publicApp({ handlers: { getMe }, accountQueue: makeAccountQueue({ atOnce: 1, mostWaiting: 0 }) });
    const asked = request(app)
      .get('/api/me')
      .set(ALICE)
      .then((answer) => answer);
    while (begun() < 1) await nextTick();
    const refused = await request(app).get('/api/me').set(ALICE);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: 'rate_limited' });
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      ratelimit: expect.stringContaining('"read"'),
      'ratelimit-policy': expect.stringContaining('"read"'),
    });
    open[0]?.();
    expect((await asked).status).toBe(200);
  });

  test('on as much as it may lets the bytes of files pass all the same', async () => {
    const { app } = publicApp({ accountQueue: { enter: () => null, size: 1 } });
    const path = '/api/relay/0190b5a4-7d0e-7000-8000-000000000000/0/0';
    await request(app).get(path).set(ALICE).expect(200);
    await request(app).get('/api/me').set(ALICE).expect(429);
  });

  test('on as much as it may tells a stream so inside the stream, since a browser would give up on a 429', async () => {
    const { app } = publicApp({ accountQueue: { enter: () => null, size: 1 } });
    const answer = await request(app).get('/api/hub/events').set(ALICE).expect(200);
    expect(answer.text).toContain('event: reconnect\ndata: {"reason":"busy"');
  });
});
