import type { Fault } from '../../chaos/history.ts';
import { describeVerdict } from '../../chaos/report.ts';
import { clipboard, kindsFound, message, Planted, ready } from './planted.ts';

const LOST_ALL = { loss: { since: null, times: 1 } };

let planted: Planted;
beforeEach(() => {
  planted = new Planted();
});
const found = () => kindsFound(planted.history);

describe('a stream that is open and silent in the middle of a run', () => {
  test.each(['message', 'clipboard'] as const)('is caught by a %s that comes after more than half a minute', (kind) => {
    const { number } = planted.ask(kind, 100);
    const content = kind === 'message' ? message(number) : clipboard(number);
    if (kind === 'clipboard') planted.receive('a-0', 102, content, '1100-1');
    planted.receive('a-1', 30_000, content, '1100-1');
    expect(found()).toEqual([]);

    Object.assign(planted.of('a-1').frames.at(-1) ?? {}, { at: 30_200 });
    expect(found()).toEqual(['late']);
  });

  test('is not what a device is whose stream ended meanwhile: its successor has time until the quiet moment', () => {
    const { number } = planted.ask('message', 100);
    planted.connect('a-1', 20_000, '1000-1');
    planted.receive('a-1', 40_000, message(number), '1100-1');
    expect(found()).toEqual([]);
  });

  test('is caught although the store forgot everything long after', () => {
    planted.ask('message', 100);
    planted.fault('flushall', 40_000, 40_010, LOST_ALL);
    for (const name of ['a-0', 'a-1']) planted.receive(name, 41_000, ready('store_lost'), '41000-1');
    planted.quiet(60_000);
    expect(found()).toEqual(['late']);
  });

  test('may have nothing to bring where the store forgot in between', () => {
    planted.ask('message', 100);
    planted.fault('flushall', 20_000, 20_010, LOST_ALL);
    for (const name of ['a-0', 'a-1']) planted.receive(name, 21_000, ready('store_lost'), '21000-1');
    expect(found()).toEqual([]);
  });

  test('is told by a reset with a cause that events are missing, and still has pending what waits in its mailbox', () => {
    planted.ask('clipboard', 100);
    for (let i = 0; i < 250; i++) planted.receive('a-0', 200 + i, { name: 'clipboard:cleared' }, `${2_000 + i}-1`);
    planted.of('a-0').frames.splice(1, 0, { ...clipboard(1), at: 150, id: '1100-1', connection: 1 });
    planted.receive('a-1', 20_001, ready('expired'), '2249-1');
    expect(found()).toEqual([]);

    planted.ask('message', 300);
    expect(found()).toEqual(['late']);
  });
});

describe('what befell one part of a store', () => {
  const shard: Partial<Fault> = { ...LOST_ALL, accounts: ['b'], movedClock: true };

  test('explains no reset of an account elsewhere', () => {
    planted.fault('primary-wipe', 90, 95, shard);
    planted.receive('a-1', 101, ready('store_lost'), '1050-1');
    expect(found()).toEqual(['reset']);
  });

  test('excuses neither a loss nor a disorder there', () => {
    planted.ask('message', 100);
    planted.fault('primary-wipe', 150, 200, shard);
    planted.receive('a-0', 300, { name: 'clipboard:cleared' }, '1300-1');
    planted.receive('a-0', 400, { name: 'clipboard:cleared' }, '1250-1');
    planted.receive('a-1', 500, ready('gap'), '1350-1');
    planted.quiet(60_000);
    expect(found()).toEqual(['loss', 'reset', 'order', 'late']);
  });
});

describe('resets', () => {
  test('a loss explains one of a device, also when its position has moved on since', () => {
    planted.fault('flushall', 90, 95, LOST_ALL);
    planted.receive('a-1', 101, ready('store_lost'), '1050-1');
    planted.deliver(150, '1150-1');
    expect(found()).toEqual([]);

    planted.connect('a-1', 200, '1150-1');
    planted.receive('a-1', 201, ready('gap'), '1250-1');
    expect(found()).toEqual(['reset']);
  });

  test('each loss explains its own, though the first could explain both', () => {
    planted.fault('flushall', 90, 95, LOST_ALL);
    planted.fault('redis-wipe', 110, 115, LOST_ALL);
    planted.receive('a-1', 101, ready('store_lost'), '1050-1');
    planted.receive('a-1', 120, ready('store_lost'), '1070-1');
    expect(found()).toEqual([]);
  });

  test('a client that forgets its position is no new one', () => {
    planted.connect('a-1', 100);
    planted.receive('a-1', 101, ready('new'), '1050-1');
    expect(found()).toEqual(['reset']);
  });
});

describe('presence', () => {
  const offline = { name: 'presence' as const, snapshot: { version: 2, online: ['a-0'], offline: ['a-1'] } };

  test('a replica that stood still hides its own devices and no others', () => {
    planted.receive('a-0', 30_000, offline);
    planted.fault('pause-long', 20_000, 29_000, { hidesDevices: true, replica: 'r2' });
    expect(found()).toEqual(['false offline']);

    planted.fault('pause-long', 20_000, 29_000, { hidesDevices: true, replica: 'r1' });
    expect(found()).toEqual([]);
  });

  test('what forgot everything in one part of a store hides devices elsewhere only with the leases', () => {
    planted.receive('a-0', 30_000, offline);
    const wipe = { ...LOST_ALL, hidesDevices: true, accounts: ['b'] };
    planted.fault('primary-wipe', 20_000, 21_000, { ...wipe, holdsLeases: false });
    expect(found()).toEqual(['false offline']);

    planted.fault('primary-wipe', 20_000, 21_000, { ...wipe, holdsLeases: true });
    expect(found()).toEqual([]);
  });

  test('another clock in one part of a store hides nobody elsewhere: leases are counters', () => {
    planted.receive('a-0', 30_000, offline);
    const clock = { hidesDevices: true, movedClock: true, holdsLeases: true };
    planted.fault('primary-clock', 20_000, 21_000, { ...clock, accounts: ['b'] });
    expect(found()).toEqual(['false offline']);

    planted.fault('primary-clock', 20_000, 21_000, { ...clock, accounts: ['a'] });
    expect(found()).toEqual([]);
  });

  test('a lost tail hides who came or went in it, and nobody who was there before and after', () => {
    planted.receive('a-0', 30_000, offline);
    const tail = { loss: { since: 18_000, until: 20_100, times: 1 }, hidesDevices: true, holdsLeases: true };
    planted.fault('primary-kill', 20_000, 25_000, tail);
    expect(found()).toEqual(['false offline']);

    const [first] = planted.of('a-1').connections;
    Object.assign(first ?? {}, { closedAt: 20_000 });
    planted.history.devices[0]?.frames.pop();
    planted.receive('a-0', 24_000, offline);
    expect(found()).toEqual([]);

    Object.assign(first ?? {}, { closedAt: 22_000 });
    expect(found()).toEqual(['false offline']);

    Object.assign(first ?? {}, { closedAt: null, startedAt: 18_400, openAt: 18_500 });
    expect(found()).toEqual([]);
  });

  test('a store hides devices for a while after it served again, however late a dead primary comes back', () => {
    planted.receive('a-0', 50_000, offline);
    const loss = { since: null, until: 20_100, times: 1 };
    planted.fault('primary-kill', 20_000, 35_000, { loss, hidesDevices: true, holdsLeases: true });
    expect(found()).toEqual([]);

    Object.assign(planted.history.faults[0] ?? {}, { servedFrom: 24_000 });
    expect(found()).toEqual(['false offline']);
  });
});

describe('doubles', () => {
  test('an event that comes again behind a ready that gave nothing up is caught', () => {
    const { number } = planted.deliver(100, '1100-1');
    planted.receive('a-1', 200, ready(null));
    planted.receive('a-1', 201, message(number), '1100-1');
    expect(found()).toEqual(['double']);
  });
});

describe('the run itself', () => {
  test('what nobody asked for is caught', () => {
    planted.receive('a-1', 100, { name: 'other', what: 'device:removed' });
    expect(found()).toEqual(['unasked']);
  });

  test('a full one in which too little happened is caught, a short one is not held to that', () => {
    planted.deliver(100, '1100-1');
    planted.history.plan = { minutes: 1, kinds: ['kill'] };
    expect(found()).toEqual([]);
    planted.history.plan = { minutes: 30, kinds: ['kill'] };
    expect(found()).toEqual(['size']);
  });

  const KINDS = ['kill', 'drain'];

  /** Puts this many devices, events and faults of each kind into ten seconds. */
  function happen({ devices = 200, events = 1_000, faults = 5 }): void {
    for (let i = planted.history.devices.length; i < devices; i++)
      planted.history.devices.push({ account: 'c', device: `c-${i}`, frames: [], connections: [], wanted: [] });
    for (let i = 0; i < events; i++)
      planted.receive('a-0', 3 + (i * 10_000) / events, { name: 'clipboard:cleared' }, `${2_000 + i}-1`);
    for (let i = 0; i < faults; i++) for (const kind of KINDS) planted.fault(kind, i * 100, i * 100 + 1);
  }

  test.each([
    ['with too few devices', { devices: 199 }],
    ['with too few events', { events: 990 }],
    ['with too few faults', { faults: 4 }],
  ])('one of ten minutes %s is caught', (_, lack) => {
    planted.history.plan = { minutes: 10, kinds: KINDS };
    happen(lack);
    expect(found()).toEqual(['size']);
  });

  test('one of ten minutes needs half the faults of one of twenty', () => {
    planted.history.plan = { minutes: 10, kinds: KINDS };
    happen({});
    expect(found()).toEqual([]);
    planted.history.plan.minutes = 20;
    expect(found()).toEqual(['size']);
  });

  test('one on a machine that could not make some of the faults is caught, unless it is short', () => {
    planted.history.plan = { minutes: 10, kinds: KINDS, skipped: ['redis-clock'] };
    happen({});
    expect(found()).toEqual(['size']);
    planted.history.plan.minutes = 9;
    expect(found()).toEqual([]);
  });

  test('one of which only a part was wanted is no full one, and says so', () => {
    planted.history.plan = { minutes: 30, kinds: KINDS, isPart: true, skipped: ['redis-clock'] };
    planted.deliver(100, '1100-1');
    expect(found()).toEqual([]);
    expect(describeVerdict({}, planted.history)).toContain('not a full run: only kill, drain');
  });

  test('one in which nothing happened at all is caught', () => {
    planted.history.devices = [];
    planted.history.plan = { minutes: 1, kinds: [] };
    expect(found()).toEqual(['size']);
  });
});
