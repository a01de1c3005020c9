import { EventEmitter, once } from 'node:events';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Presence } from '../../../shared/contract/modules/presence.ts';
import { Hub } from '../../../services/sync/streams/hub.ts';
import type { AccountSets } from '../../../services/sync/replicas/account-sets.ts';
import type { Replica } from '../../../services/sync/replicas/replica.ts';
import type { Attached, StreamStore } from '../../../services/sync/streams/store.ts';
import type { Caller } from '../../../services/sync/identity/caller.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';
import { Client } from './new-stream.ts';

const { jest } = import.meta;

const CALLER = { account: 'ann', deviceId: null } as unknown as Caller;

const ATTACHED: Attached = {
  ...{ outcome: 'attached', top: '1-1', presenceVersion: 1, nextDueInMs: null },
  presence: { devices: [], states: [] },
  transitions: { online: 0, offline: 0 },
  orphanInMs: 0,
  opened: null,
};

const opened = (lostReason: 'gap' | 'new' | null): Attached => ({
  ...ATTACHED,
  opened: {
    ...{ lostReason, clipboard: null, pendingMessages: 0, pendingTransfers: 0, hasInvites: false },
    page: { entries: [], ended: true },
  },
});

/** Makes a hub whose store gives these answers to attaches, one after the other, and the last one from then on. */
function setUp(answers: (Attached | 'fails' | 'errs')[]) {
  const attach = jest.fn(() => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === 'fails') return Promise.reject(new BatonError('store_unavailable'));
    return answer === 'errs' ? Promise.reject(new BatonError('internal')) : Promise.resolve(answer);
  });
  const detach = jest.fn(() => Promise.resolve());
  const store = { attach, detach, readPage: () => Promise.resolve({ lostReason: 'gap' }) } as unknown as StreamStore;
  const readPresence = jest.fn(() => Promise.resolve({ version: 9, devices: [] }));
  const add = jest.fn(() => Promise.resolve());
  const hub = new Hub({
    store,
    reconcileAccount: () => Promise.resolve(0),
    accounts: { add, ensure: add, recheck: () => undefined } as unknown as AccountSets,
    replica: { id: 'r', channel: 'bus:r', live: 1, storeNowMs: Date.now } as Replica,
    modules: {
      readPresence,
      async *pending() {},
      restoreRow: () => Promise.resolve(false),
      isRevoked: () => false,
      scheduleDue: () => Promise.resolve(),
    },
    metrics: makeMetrics({ version: 'test' }),
    timing: { sweepMs: 3_600_000, rotateMs: 3_600_000, graceMs: 1_000, heartbeatMs: 15_000 },
    maxStreams: 10,
    isUp: () => true,
    onFailure: () => undefined,
  });
  hub.start();
  const client = new Client();
  const open = () => hub.opening.open({ res: client.response, caller: CALLER, device: '~Tab', lastEventId: null });
  return { hub, client, add, attach, detach, open, readPresence };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const missedOne = {
  account: 'ann',
  name: 'message',
  to: '',
  prev: '8-8',
  id: '9-9',
  data: Buffer.from('{}'),
  appendedAt: '9',
};

test('a reaper can find the account of a stream before each attach, after which the others see the device', async () => {
  const { hub, add, attach, open } = setUp([opened('new'), ATTACHED]);
  const store = new EventEmitter();
  add.mockImplementation(() => once(store, 'added').then(() => undefined));
  const opening = open();
  await jest.advanceTimersByTimeAsync(1_000);
  const attaches = [attach.mock.calls.length];
  store.emit('added');
  await opening;
  hub.attachAll('gap');
  await jest.advanceTimersByTimeAsync(1_000);
  attaches.push(attach.mock.calls.length);
  store.emit('added');
  await jest.advanceTimersByTimeAsync(1_000);

  expect([...attaches, attach.mock.calls.length]).toEqual([0, 1, 2]);
  hub.stop();
});

test('a stream that is sent another ready while a later comparison overtakes it goes on, and is not taken for superseded', async () => {
  const { hub, client, attach, open } = setUp([
    opened('new'),
    // The stream lost its position, and another attach came between this attach and its answer.
    { ...ATTACHED, outcome: 'old' },
    ATTACHED,
    opened('gap'),
  ]);
  await open();
  hub.delivery.event(missedOne);
  await jest.advanceTimersByTimeAsync(5_000);

  expect(client.text).not.toContain('event: reconnect');
  expect(attach).toHaveBeenCalledTimes(4);
  expect(client.text.match(/event: ready/g)).toHaveLength(2);
  hub.stop();
});

test('one to which the store told presence that it has lost since is sent another ready, also when that fails at first', async () => {
  const { hub, client, attach, open } = setUp([
    { ...opened('new'), presenceVersion: 5 },
    ...[{ ...ATTACHED, presenceVersion: 2 }, 'fails' as const],
    ...[{ ...ATTACHED, presenceVersion: 2 }, 'fails' as const],
    { ...ATTACHED, presenceVersion: 2 },
    { ...opened(null), presenceVersion: 2 },
    { ...ATTACHED, presenceVersion: 2, presence: null },
  ]);
  await open();
  hub.attachAll('gap');
  await jest.advanceTimersByTimeAsync(10_000);

  expect(attach).toHaveBeenCalledTimes(7);
  expect(client.text.match(/event: ready/g)).toHaveLength(2);
  expect(client.text).not.toContain('event: presence');

  hub.attachAll('gap');
  await jest.advanceTimersByTimeAsync(10_000);
  expect(attach).toHaveBeenCalledTimes(8);
  expect(client.text.match(/event: ready/g)).toHaveLength(2);
  hub.stop();
});

test.each(['fails', 'errs'] as const)('one whose first attach %s is told to come back', async (answer) => {
  const { hub, client, open } = setUp([answer]);
  await open();

  expect(client.text).toMatch(/event: reconnect\ndata: \{"reason":"store"/);
  expect(hub.streams.size).toBe(0);
  hub.stop();
});

test('one whose row was closed by a newer stream of the device is ended as superseded', async () => {
  const { hub, client, open } = setUp([opened('new'), { ...ATTACHED, outcome: 'gone' }]);
  await open();
  hub.delivery.event(missedOne);
  await jest.advanceTimersByTimeAsync(5_000);

  expect(client.text).toMatch(/event: reconnect\ndata: \{"reason":"superseded"/);
  hub.stop();
});

test.each([
  { told: 'with its snapshot', snapshot: JSON.stringify({ devices: ['d1', 'Laptop\nlaptop\n1'], states: ['v', '7'] }) },
  { told: 'without', snapshot: '' },
])('presence that is announced $told is written, and read only where it has to be', async ({ snapshot }) => {
  const { hub, client, open, readPresence } = setUp([opened('new')]);
  await open();
  hub.delivery.presence('ann', 7, snapshot);
  await jest.advanceTimersByTimeAsync(0);

  const data = /event: presence\ndata: (.*)/.exec(client.text)?.[1] ?? '';
  const { version, devices } = JSON.parse(data) as Presence;
  const isRead = snapshot === '';
  expect(version).toBe(isRead ? 9 : 7);
  expect(devices.map(({ name }) => name)).toEqual(isRead ? [] : ['Laptop']);
  expect(readPresence).toHaveBeenCalledTimes(isRead ? 1 : 0);
  hub.stop();
});
