import { check } from '../../chaos/checker/check.ts';
import type { History } from '../../chaos/history.ts';
import { clipboard, kindsFound, message, Planted, ready } from './planted.ts';

const LOST_ALL = { loss: { since: null, times: 1 } };

/**
 * Returns the kinds of violations found, each once. Every loss while a stream is open is late as well, so `late`, which
 * has tests of its own, is left out.
 */
const found = (history: History): string[] => kindsFound(history).filter((kind) => kind !== 'late');

let planted: Planted;
beforeEach(() => {
  planted = new Planted();
});

describe('loss', () => {
  test('a history in which everything arrived is accepted', () => {
    planted.deliver(100, '1100-1');
    planted.deliver(200, '1200-1');
    planted.quiet(60_000);

    expect(found(planted.history)).toEqual([]);
  });

  test('an acknowledged message that its receiver never got is caught', () => {
    planted.ask('message', 100);
    planted.quiet(60_000);

    expect(found(planted.history)).toEqual(['loss']);
  });

  test('a message that came only as redelivered is not lost', () => {
    const { number } = planted.ask('message', 100);
    planted.receive('a-1', 5_000, message(number));
    planted.quiet(60_000);

    expect(found(planted.history)).toEqual([]);
  });

  test('an event that one of the devices did not get is caught', () => {
    const { number } = planted.ask('clipboard', 100);
    planted.receive('a-0', 101, clipboard(number), '1100-1');
    planted.quiet(60_000);

    expect(found(planted.history)).toEqual(['loss']);
  });

  test('an event before a reset with a cause is covered, a message is not: it waits in the mailbox', () => {
    planted.ask('message', 100);
    const { number } = planted.ask('clipboard', 110);
    planted.receive('a-0', 112, clipboard(number), '1110-1');
    for (let i = 0; i < 250; i++) planted.receive('a-0', 200 + i, { name: 'clipboard:cleared' }, `${2_000 + i}-1`);
    planted.connect('a-1', 20_000, '1000-1');
    planted.receive('a-1', 20_001, ready('expired'), '2249-1');
    planted.quiet(60_000);

    const verdict = Object.values(check(planted.history)).flat();
    expect(verdict.map(({ says }) => says)).toEqual([expect.stringContaining('never got message m1')]);
  });

  test('an event after the reset is not covered by it', () => {
    const { number } = planted.ask('clipboard', 19_999);
    planted.receive('a-0', 20_002, clipboard(number), '3000-1');
    for (let i = 0; i < 250; i++) planted.receive('a-0', 200 + i, { name: 'clipboard:cleared' }, `${2_000 + i}-1`);
    planted.history.devices[0]?.frames.sort((a, b) => a.at - b.at);
    planted.connect('a-1', 20_000, '1000-1');
    planted.receive('a-1', 20_001, ready('expired'), '2249-1');
    planted.quiet(60_000);

    expect(found(planted.history)).toEqual(['loss']);
  });

  test('what a store lost that lost everything is excused once the device was told, and not before', () => {
    planted.ask('message', 100);
    planted.fault('flushall', 200, 210, LOST_ALL);
    planted.quiet(60_000);
    expect(found(planted.history)).toEqual(['loss']);

    planted.receive('a-1', 300, ready('store_lost'), '1300-1');
    expect(found(planted.history)).toEqual([]);
  });

  test('of a lost tail only what was written in it is excused', () => {
    const tail = { loss: { since: 1_000, times: 1 } };
    planted.ask('message', 1_100);
    planted.fault('failover', 1_000, 1_500, tail);
    planted.quiet(60_000);
    expect(found(planted.history)).toEqual([]);

    planted.ask('message', 900);
    expect(found(planted.history)).toEqual(['loss']);
  });

  test('what was due in a quiet moment is not excused by a loss and a reset after it', () => {
    planted.ask('message', 100);
    planted.ask('clipboard', 110);
    planted.quiet(60_000);
    planted.fault('flushall', 300_000, 300_010, LOST_ALL);
    for (const name of ['a-0', 'a-1']) planted.receive(name, 301_000, ready('store_lost'), '301000-1');
    planted.quiet(360_000);

    const verdict = Object.values(check(planted.history))
      .flat()
      .filter((one) => one.check !== 'late');
    expect(verdict.map(({ device, says }) => `${device} ${says}`)).toEqual([
      expect.stringContaining('a-1 never got message m1, due at 60000'),
      expect.stringContaining('a-0 never got clipboard, due at 60000'),
      expect.stringContaining('a-1 never got clipboard, due at 60000'),
    ]);
  });

  test('a reset covers what came before it although the store loses everything later, and nothing after it', () => {
    const askAt = (at: number, id: string) =>
      planted.receive('a-0', at + 2, clipboard(planted.ask('clipboard', at).number), id);
    askAt(110, '1110-1');
    planted.receive('a-0', 200, { name: 'clipboard:cleared' }, '2000-1');
    for (let i = 1; i < 250; i++) planted.receive('a-0', 200 + i, { name: 'clipboard:cleared' }, `${2_000 + i}-1`);
    planted.connect('a-1', 20_000, '1000-1');
    planted.receive('a-1', 20_001, ready('expired'), '2249-1');
    planted.quiet(60_000);
    planted.fault('flushall', 300_000, 300_010, LOST_ALL);
    expect(found(planted.history)).toEqual([]);

    planted = new Planted();
    askAt(19_999, '3000-1');
    for (let i = 0; i < 250; i++) planted.receive('a-0', 200 + i, { name: 'clipboard:cleared' }, `${2_000 + i}-1`);
    planted.history.devices[0]?.frames.sort((a, b) => a.at - b.at);
    planted.connect('a-1', 20_000, '1000-1');
    planted.receive('a-1', 20_001, ready('expired'), '2249-1');
    planted.quiet(60_000);
    planted.fault('flushall', 300_000, 300_010, LOST_ALL);
    expect(found(planted.history)).toEqual(['loss']);
  });

  test.each(['message', 'clipboard'] as const)('a %s that came only after a quiet moment is caught', (kind) => {
    const { number } = planted.ask(kind, 100);
    const content = kind === 'message' ? message(number) : clipboard(number);
    if (kind === 'clipboard') planted.receive('a-0', 101, content, '1100-1');
    planted.quiet(60_000);
    planted.receive('a-1', 61_000, content, '1100-1');
    planted.quiet(120_000);
    expect(found(planted.history)).toEqual(['loss']);

    planted.history.checkpoints.shift();
    expect(found(planted.history)).toEqual([]);
  });

  test('that one receiver has a message does not say that another one has it', () => {
    const { number } = planted.deliver(100, '1100-1');
    planted.acknowledge('a-1', 200, [`m${number}`]);
    planted.receive('a-0', 201, { name: 'message:delivered', messageIds: [`m${number}`], by: 'a-0' }, '1200-1');
    planted.quiet(60_000);
    expect(found(planted.history)).toEqual(['loss']);

    planted.receive('a-0', 202, { name: 'message:delivered', messageIds: [`m${number}`], by: 'a-1' }, '1201-1');
    expect(found(planted.history)).toEqual([]);
  });

  test('a primary that woke up empty and was replaced may lose what it had accepted instead, once and no more', () => {
    planted.fault('primary-wipe', 50, 300, { loss: { since: null, times: 2 } });
    planted.receive('a-1', 80, ready('store_lost'), '1080-1');
    planted.ask('message', 100);
    planted.quiet(60_000);
    expect(found(planted.history)).toEqual([]);

    Object.assign(planted.history.faults[0] ?? {}, LOST_ALL);
    expect(found(planted.history)).toEqual(['loss']);
  });

  test('a message that was refused and came all the same is caught', () => {
    Object.assign(planted.deliver(100, '1100-1'), { outcome: 'refused', code: 'not_found' });

    expect(found(planted.history)).toEqual(['refused but delivered']);

    planted.fault('flushall', 98, 99, LOST_ALL);
    expect(found(planted.history)).toEqual(['refused but delivered']);
    planted.fault('flushall', 100, 101, LOST_ALL);
    expect(found(planted.history)).toEqual([]);
  });

  test('a device that was away in every quiet moment since has nothing pending yet', () => {
    planted.ask('message', 100);
    Object.assign(planted.of('a-1').connections[0] ?? {}, { closedAt: 50 });
    planted.quiet(60_000, ['a-0']);
    planted.receive('a-0', 6_000, { name: 'presence', snapshot: { version: 2, online: ['a-0'], offline: ['a-1'] } });

    expect(found(planted.history)).toEqual([]);
  });
});

describe('order', () => {
  test('two events in the wrong order are caught', () => {
    const first = planted.ask('message', 100);
    const second = planted.ask('message', 101);
    planted.receive('a-1', 110, message(second.number), '1101-1');
    planted.receive('a-1', 111, message(first.number), '1100-1');

    expect(found(planted.history)).toEqual(['order']);
  });

  test('an event that came before is no disorder when it comes again on the next stream', () => {
    const first = planted.deliver(100, '1100-1');
    planted.deliver(200, '1200-1');
    planted.connect('a-1', 300, '1000-1');
    planted.receive('a-1', 301, message(first.number), '1100-1');

    expect(found(planted.history)).toEqual([]);
  });

  test('a ping below what was already delivered is caught', () => {
    planted.deliver(100, '1100-1');
    planted.receive('a-1', 200, { name: 'ping' }, '1000-1');

    expect(found(planted.history)).toEqual(['order']);
  });

  test('two operations are caught when the later one has the lower id', () => {
    planted.deliver(100, '1200-1');
    const { number } = planted.ask('clipboard', 300);
    planted.receive('a-0', 301, clipboard(number), '1150-1');

    expect(found(planted.history)).toContain('order');
  });

  test('two events of the same millisecond are caught, also before and after a loss', () => {
    planted.fault('flushall', 20_000, 20_010, LOST_ALL);
    planted.receive('a-1', 20_020, ready('store_lost'), '21000-1');
    planted.deliver(100, '1100-1');
    planted.history.devices[1]?.frames.sort((a, b) => a.at - b.at);
    planted.receive('a-0', 150, { name: 'clipboard:cleared' }, '1100-2');
    expect(found(planted.history)).toEqual(['order']);

    planted = new Planted();
    planted.fault('flushall', 120, 130, LOST_ALL);
    planted.deliver(100, '1100-1');
    planted.receive('a-0', 150, { name: 'clipboard:cleared' }, '1100-2');
    expect(found(planted.history)).toEqual([]);
  });

  test('a reset that goes back is caught although the store was lost long before', () => {
    planted.fault('flushall', 200, 210, LOST_ALL);
    planted.receive('a-1', 300, ready('store_lost'), '1300-1');
    planted.deliver(30_000, '31000-1');
    planted.receive('a-1', 40_000, ready('gap'), '30500-1');

    expect(found(planted.history)).toContain('order');
  });

  test('an operation that a stopped replica repeats after a loss has its place there', () => {
    const { number: early } = planted.ask('clipboard', 100);
    const { number: late } = planted.ask('clipboard', 300);
    planted.receive('a-0', 301, clipboard(late), '1150-1');
    planted.receive('a-1', 500, ready('store_lost'), '1300-1');
    planted.receive('a-1', 501, clipboard(early), '1400-1');
    expect(found(planted.history)).toContain('order');

    planted.fault('flushall', 400, 410, LOST_ALL);
    expect(found(planted.history)).not.toContain('order');
  });

  test('after a store was lost ids may fall, at a reset and nowhere else', () => {
    planted.deliver(100, '1100-1');
    planted.fault('flushall', 200, 210, { ...LOST_ALL, movedClock: true });
    planted.receive('a-1', 300, ready('store_lost'), '900-1');
    planted.deliver(400, '950-1');
    expect(found(planted.history)).toEqual([]);

    planted.deliver(500, '940-1');
    expect(found(planted.history)).toEqual(['order']);
  });
});

describe('doubles', () => {
  test('one message under two ids is caught', () => {
    const { number } = planted.deliver(100, '1100-1');
    planted.connect('a-1', 200, '1100-1');
    planted.receive('a-1', 201, message(number), '1101-1');

    expect(found(planted.history)).toEqual(['double']);
  });

  test('one request that became two messages is caught', () => {
    const { number } = planted.deliver(100, '1100-1');
    planted.receive('a-1', 201, { ...message(number), messageId: 'another' } as ReturnType<typeof message>, '1101-1');

    expect(found(planted.history)).toEqual(['double']);
  });

  test('a delivery under two ids is caught, but for one that a store forgot after it was asked for', () => {
    const { number } = planted.deliver(100, '1100-1');
    const delivered = { name: 'message:delivered' as const, messageIds: [`m${number}`], by: 'a-1' };
    // Its replica stood still: the frame came long after its event.
    planted.acknowledge('a-1', 200, [`m${number}`]);
    planted.receive('a-0', 5_000, delivered, '1200-1');
    planted.receive('a-0', 6_000, delivered, '1300-1');
    expect(found(planted.history)).toContain('double');

    planted.fault('redis-lost-tail', 300, 400, { loss: { since: 150, times: 1 } });
    expect(found(planted.history)).not.toContain('double');
  });

  test('two events under one id are caught', () => {
    const first = planted.ask('clipboard', 100);
    const second = planted.ask('clipboard', 100);
    planted.receive('a-0', 101, clipboard(first.number), '1100-1');
    planted.receive('a-1', 101, clipboard(second.number), '1100-1');

    expect(found(planted.history)).toContain('double');
  });

  test('the same event twice on one stream is caught, on two streams it is not', () => {
    const { number } = planted.deliver(100, '1100-1');
    planted.connect('a-1', 200, '1000-1');
    planted.receive('a-1', 201, message(number), '1100-1');
    expect(found(planted.history)).toEqual([]);

    planted.receive('a-1', 202, message(number), '1100-1');
    expect(found(planted.history)).toEqual(['double']);
  });
});

describe('accounts', () => {
  test.each([
    ['a message', message(99, 'b')],
    ['a clipboard', clipboard(99, 'b')],
    ['a presence list', ready(null, ['a-0', 'b-0'])],
    ['an acknowledgement', { name: 'message:delivered' as const, messageIds: ['m1'], by: 'b-1' }],
  ])('%s of another account is caught', (_, content) => {
    planted.receive('a-1', 100, content);

    expect(found(planted.history)).toEqual(['leak']);
  });

  test('a message of another account is caught by its id too', () => {
    planted.ask('message', 100, 'b');
    planted.receive('a-0', 101, { name: 'message:delivered', messageIds: ['m1'], by: 'a-1' }, '1101-1');

    expect(found(planted.history)).toEqual(['leak']);
  });
});

describe('resets', () => {
  test.each(['store_lost', 'gap', 'expired', 'new'])(
    'a reset (%s) after the death of a replica is caught',
    (reason) => {
      planted.fault('kill', 50, 60);
      planted.connect('a-1', 100, '1000-1');
      planted.receive('a-1', 101, ready(reason), '1050-1');

      expect(found(planted.history)).toEqual(['reset']);
    },
  );

  test('a loss explains one reset of a device, not the next one', () => {
    planted.fault('flushall', 90, 95, LOST_ALL);
    planted.receive('a-1', 101, ready('store_lost'), '1050-1');
    expect(found(planted.history)).toEqual([]);

    planted.receive('a-1', 201, ready('gap'), '1150-1');
    expect(found(planted.history)).toEqual(['reset']);
  });

  test('one that lost everything, and then what it had instead, explains two, not three', () => {
    planted.fault('primary-wipe', 90, 95, { loss: { since: null, times: 2 } });
    planted.receive('a-1', 101, ready('store_lost'), '1050-1');
    planted.receive('a-1', 201, ready('gap'), '1150-1');
    expect(found(planted.history)).toEqual([]);

    planted.receive('a-1', 301, ready('gap'), '1250-1');
    expect(found(planted.history)).toEqual(['reset']);
  });

  test('a position that was issued long after a loss is not explained by it', () => {
    planted.fault('flushall', 90, 95, LOST_ALL);
    planted.deliver(20_000, '21000-1');
    planted.receive('a-1', 30_000, ready('gap'), '31000-1');

    expect(found(planted.history)).toEqual(['reset']);
  });

  test('a position from before a lost tail is not explained by it', () => {
    planted.deliver(100, '1100-1');
    planted.fault('failover', 30_000, 31_000, { loss: { since: 30_000, times: 1 } });
    planted.receive('a-1', 32_000, ready('gap'), '32000-1');

    expect(found(planted.history)).toEqual(['reset']);
  });

  test('a device that outlived the log may be told so, another one may not', () => {
    for (let i = 0; i < 250; i++) planted.receive('a-0', 100 + i, { name: 'clipboard:cleared' }, `${2_000 + i}-1`);
    planted.connect('a-1', 1_000, '1000-1');
    planted.receive('a-1', 1_001, ready('expired'), '2249-1');
    expect(found(planted.history)).toEqual([]);

    planted.connect('a-0', 1_100, '2249-1');
    planted.receive('a-0', 1_101, ready('expired'), '2250-1');
    expect(found(planted.history)).toEqual(['reset']);
  });
});

describe('presence and streams', () => {
  test('a replica that says something else than what is connected is caught', () => {
    planted.quiet(60_000, ['a-0', 'a-1'], ['a-0']);

    expect(found(planted.history)).toEqual(['presence']);
  });

  test('a device that was last told something else is caught', () => {
    planted.receive('a-0', 100, { name: 'presence', snapshot: { version: 2, online: ['a-0'], offline: [] } });
    planted.quiet(60_000);

    expect(found(planted.history)).toEqual(['presence']);
  });

  test('a device that was there all the time and is shown as offline is caught, unless its replica was taken for dead', () => {
    const offline = { name: 'presence' as const, snapshot: { version: 2, online: ['a-0'], offline: ['a-1'] } };
    planted.receive('a-0', 30_000, offline);
    expect(found(planted.history)).toEqual(['false offline']);

    planted.fault('pause-long', 20_000, 29_000, { hidesDevices: true });
    expect(found(planted.history)).toEqual([]);
  });

  test('a device that was away for longer than the grace may be shown as offline', () => {
    const last = planted.of('a-1').connections[0];
    Object.assign(last ?? {}, { closedAt: 24_000 });
    planted.receive('a-0', 30_000, {
      name: 'presence',
      snapshot: { version: 2, online: ['a-0'], offline: ['a-1'] },
    });

    expect(found(planted.history)).toEqual([]);
  });

  test('a device whose stream ended while the driver stood still was away for longer than it was seen to be', () => {
    Object.assign(planted.of('a-1').connections[0] ?? {}, { closedAt: 26_000 });
    planted.receive('a-0', 30_000, {
      name: 'presence',
      snapshot: { version: 2, online: ['a-0'], offline: ['a-1'] },
    });
    planted.history.stalls.push({ from: 20_000, to: 24_000 }, { from: 27_000, to: 29_000 });
    expect(found(planted.history)).toEqual(['false offline']);

    planted.history.stalls.splice(1, 0, { from: 25_000, to: 25_990 });
    expect(found(planted.history)).toEqual([]);
  });

  test('an open stream on which a probe does not arrive in time is caught', () => {
    const probe = planted.ask('message', 50_000);
    planted.quiet(61_000);
    planted.history.checkpoints[0]?.probes.push(probe.number);
    expect(found(planted.history)).toContain('silent stream');

    planted.receive('a-1', 60_500, message(probe.number), '60500-1');
    expect(found(planted.history)).toEqual(['silent stream']);
  });

  test('a probe that came on a later stream does not clear the silent one', () => {
    const probe = planted.ask('message', 50_000);
    planted.quiet(61_000);
    planted.history.checkpoints[0]?.probes.push(probe.number);
    planted.of('a-1').connections.push({
      ...{ number: 2, replica: 'r2', startedAt: 50_100, lastEventId: '1000-1', openAt: 50_100 },
      ...{ closedAt: null, cause: null },
    });
    planted.receive('a-1', 50_500, message(probe.number), '50500-1');

    expect(found(planted.history)).toEqual(['silent stream']);
  });

  test('a device without a stream after quiet, a superseded only stream and a bad exit are caught', () => {
    planted.quiet(60_000);
    planted.history.checkpoints[0]?.notOpen.push('a-1');
    planted.receive('a-0', 100, { name: 'reconnect', reason: 'superseded' });
    planted.fault('drain', 100, 200, { broken: 'exit code 1' });

    expect(found(planted.history).sort()).toEqual(['fault', 'not open', 'superseded']);
  });
});
