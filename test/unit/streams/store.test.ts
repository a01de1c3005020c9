import { BatonError } from '../../../shared/contract/errors.ts';
import { makeStreamStore } from '../../../services/sync/streams/store.ts';
import type { Stream } from '../../../services/sync/streams/stream/stream.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';
import type { ScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import type { Liveness } from '../../../services/sync/replicas/liveness.ts';
import type { Metrics } from '../../../services/sync/telemetry/metrics.ts';
import { newStream } from './new-stream.ts';

type Attach = (keys: unknown, args: { liveness: Liveness; attachNumber: number }) => Promise<unknown>;

/** How often the connection to the store has been lost so far. */
let losses = 0;

const ATTACHED = {
  ...{ outcome: 'attached', top: '1-1', presenceVersion: 0, devices: [], states: [] },
  ...{ transitions: { online: 0, offline: 0 }, orphanInMs: 0, dropped: 0 },
  opened: { lostReason: null, clipboard: '', pendingMessages: 0, pendingTransfers: 0, entries: [], ended: true },
};

/** Makes a store whose scripts are all `attach`. */
const storeOf = (
  attach: Attach,
  publish: (channel: string) => Promise<number> = () => Promise.resolve(1),
  repaired: (cause: string) => void = () => undefined,
) =>
  makeStreamStore({
    scripts: { define: () => attach } as unknown as ScriptLoader,
    keys: makeKeys('test'),
    graceMs: 0,
    replica: { channel: 'bus', deadChannels: () => '', formerChannels: () => '', lateMs: () => 0 },
    publish,
    losses: () => losses,
    metrics: { repairs_total: { inc: (labels: { cause: string }) => repaired(labels.cause) } } as unknown as Metrics,
  });

test('a stream that opens is given all of presence, also when it was told of it while it asked', async () => {
  const stream = newStream();
  const attach = () => {
    stream.sendPresence(900, Buffer.from('presence'));
    const presence = { presenceVersion: 900, devices: ['phone', 'row'], states: ['phone', '1800'] };
    return Promise.resolve({ ...ATTACHED, ...presence });
  };

  const { presence } = await storeOf(attach).attach(stream, true, [stream.id]);

  expect(presence).toEqual({ devices: ['phone', 'row'], states: ['phone', '1800'] });
});

test('a refused stream of which a copy of the call may be under way is closed in the store', async () => {
  const stream = newStream();
  const attach = () => {
    losses += 1;
    return Promise.resolve({ outcome: 'busy' });
  };
  expect((await storeOf(attach).attach(stream, true, [stream.id])).outcome).toBe('busy');
  expect(stream.attaches.mayBeRouted).toBe(true);
});

describe('a limit that others may only seem to reach', () => {
  const FULL = { outcome: 'full', channels: ['bus:a', 'bus:b', 'bus:a'] };

  /** Returns the silent channels that the script was told of, call by call. */
  async function attachWith(publish: (channel: string) => Promise<number>): Promise<unknown[]> {
    const given: unknown[] = [];
    const numbers = new Set<number>();
    const attach: Attach = (_keys, { liveness: { silent }, attachNumber }) => {
      given.push(silent);
      numbers.add(attachNumber);
      return Promise.resolve(given.length === 1 ? FULL : { outcome: 'busy' });
    };
    const store = storeOf(attach, publish);
    const stream = newStream();
    expect((await store.attach(stream, true, [stream.id])).outcome).toBe('busy');
    expect([...numbers]).toEqual([1]);
    // The refused stream has no route. A closed route for each refused stream would make the account's routes long.
    expect(stream.attaches.mayBeRouted).toBe(false);
    return given;
  }

  test.each<[string, (channel: string) => Promise<number>, string[]]>([
    ['nobody listens there', (channel) => Promise.resolve(channel === 'bus:a' ? 0 : 1), ['bus:a']],
    ['all listen', () => Promise.resolve(1), []],
    ['it cannot be asked', () => Promise.reject(new Error('away')), ['bus:a', 'bus:b']],
    ['no answer comes', () => new Promise(() => undefined), ['bus:a', 'bus:b']],
  ])('is asked about once: %s', async (_, publish, silent) => {
    expect(await attachWith(publish)).toEqual([null, silent]);
  });
});

describe('whether a route may have been written', () => {
  const fails = (error: unknown) => () => Promise.reject(error);
  const unavailable = (cause?: unknown) => new BatonError('store_unavailable', undefined, cause ? { cause } : {});
  const reply = Object.assign(new Error('CLUSTERDOWN'), { name: 'ReplyError' });

  test.each<[string, () => Promise<unknown>, boolean]>([
    ['the attach was answered', () => Promise.resolve(ATTACHED), true],
    ['no answer came', fails(unavailable(new Error('Command timed out'))), true],
    ['the store refused, maybe what was sent again', fails(unavailable(reply)), true],
    ['nothing was sent, for the store is known to be away', fails(unavailable()), false],
    ['there was no connection to send it again', fails(unavailable(new Error('enableOfflineQueue'))), true],
    ['the name was taken', fails(new BatonError('name_taken')), false],
  ])('%s', async (_, answer, may) => {
    const attach = (to: Stream) =>
      storeOf(answer)
        .attach(to, true, [])
        .catch(() => undefined);
    const stream = newStream();
    await attach(stream);
    expect(stream.attaches.mayBeRouted).toBe(may);

    // A route that was written once stays written, whatever becomes of the next attach.
    const routed = newStream();
    routed.attaches.sent();
    await attach(routed);
    expect(routed.attaches.mayBeRouted).toBe(true);
  });
});

describe('what an attach puts right is counted', () => {
  const attached = (dropped: number) => ({ ...ATTACHED, dropped });
  const FULL = { outcome: 'full', channels: ['bus:a'] };

  test.each<[string, unknown[], string[]]>([
    ['nothing was wrong', [attached(0)], []],
    [
      'the answer did not come',
      [new BatonError('store_unavailable', undefined, { cause: new Error() })],
      ['unknown attach'],
    ],
    ['it was not even sent', [new BatonError('store_unavailable')], []],
    ['rows came back with a lost tail', [attached(2)], ['stray row']],
    ['streams of a dead replica filled the account', [FULL, attached(0)], ['ghost stream']],
  ])('%s', async (_, answers, causes) => {
    const counted: string[] = [];
    const attach = () => {
      const answer = answers.shift();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    const store = storeOf(
      attach,
      () => Promise.resolve(0),
      (cause) => counted.push(cause),
    );
    await store.attach(newStream(), true, []).catch(() => undefined);
    expect(counted).toEqual(causes);
  });
});

describe('the row of a closed stream may go when its device is back, unless an attach of it may come late', () => {
  const unavailable = () => Promise.reject(new BatonError('store_unavailable', undefined, { cause: new Error() }));
  const answered = () => Promise.resolve(ATTACHED);
  const overTwoConnections = () => {
    losses += 1;
    return answered();
  };
  const FULL = { outcome: 'full', channels: ['bus:a'] };

  test.each<[string, (() => Promise<unknown>)[], boolean]>([
    ['each was answered', [answered, answered], false],
    ['one was not sent at all', [() => Promise.reject(new BatonError('store_unavailable')), answered], false],
    ['one was refused', [() => Promise.reject(new BatonError('name_taken'))], false],
    ['the answer of one did not come', [unavailable, answered], true],
    ['one was answered over another connection than it was first sent on', [overTwoConnections, answered], true],
    ['the answer of its second question did not come', [() => Promise.resolve(FULL), unavailable], true],
  ])('%s', async (_, answers, mayComeLate) => {
    const numbers: number[] = [];
    const script: Attach = (_keys, { attachNumber }) => {
      numbers.push(attachNumber);
      return (answers.shift() ?? answered)();
    };
    const store = storeOf(script, () => Promise.resolve(0));
    const stream = newStream();
    while (answers.length > 0) await store.attach(stream, true, []).catch(() => undefined);
    const sent = numbers.at(-1) ?? 0;
    await store.detach(stream);
    expect(numbers.at(-1)).toBe(mayComeLate ? sent + 1 : 0);
  });
});
