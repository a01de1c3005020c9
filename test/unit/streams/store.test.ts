import { BatonError } from '../../../shared/contract/errors.ts';
import { makeHubStore } from '../../../services/sync/streams/store.ts';
import type { Stream } from '../../../services/sync/streams/stream.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';
import type { ScriptLoader } from '../../../services/server/redis/scripts/scripts.ts';
import type { Metrics } from '../../../services/sync/telemetry/metrics.ts';

type Attach = (keys: unknown, args: { ghosts: string }) => Promise<unknown>;

const ATTACHED = {
  ...{ outcome: 'attached', top: '1-1', presenceVersion: 0, devices: [], states: [], nextDueInMs: null, opened: null },
  ...{ transitions: { online: 0, offline: 0 }, strayInMs: 0, dropped: 0 },
};

/** A store whose scripts all are `attach`. */
const storeOf = (
  attach: Attach,
  publish: (channel: string) => Promise<number> = () => Promise.resolve(1),
  repaired: (cause: string) => void = () => undefined,
) =>
  makeHubStore({
    scripts: { define: () => attach } as unknown as ScriptLoader,
    keys: makeKeys('test'),
    graceMs: 0,
    replica: { deadChannels: () => '', formerChannels: () => '', lateMs: () => 0 },
    publish,
    metrics: { repairs_total: { inc: (labels: { cause: string }) => repaired(labels.cause) } } as unknown as Metrics,
  });

test('a stream that opens is given all of presence, also when it was told of it while it asked', async () => {
  const stream = { account: 'ann', device: 'phone', id: 's1', generation: 0, position: '', presenceVersion: 0 };
  const attach = () => {
    stream.presenceVersion = 900;
    const presence = { presenceVersion: 900, devices: ['phone', 'row'], states: ['phone', '1800'] };
    return Promise.resolve({ ...ATTACHED, ...presence });
  };

  const { presence } = await storeOf(attach).attach(stream as Stream, 'bus', true, ['s1']);

  expect(presence).toEqual({ devices: ['phone', 'row'], states: ['phone', '1800'] });
});

describe('a limit that others may only seem to reach', () => {
  const FULL = { outcome: 'full', channels: ['bus:a', 'bus:b', 'bus:a'] };

  /** The ghosts that the script was told of, time after time. */
  async function attachWith(publish: (channel: string) => Promise<number>): Promise<unknown[]> {
    const given: unknown[] = [];
    const attach: Attach = (_keys, { ghosts }) => {
      given.push(ghosts);
      return Promise.resolve(given.length === 1 ? FULL : { outcome: 'busy' });
    };
    const store = storeOf(attach, publish);
    const stream = { account: 'ann', device: 'phone', id: 's1', generation: 0, position: '', presenceVersion: 0 };
    expect((await store.attach(stream as Stream, 'bus', true, ['s1'])).outcome).toBe('busy');
    expect(stream.generation).toBe(1);
    return given;
  }

  test.each<[string, (channel: string) => Promise<number>, string]>([
    ['nobody listens there', (channel) => Promise.resolve(channel === 'bus:a' ? 0 : 1), 'bus:a'],
    ['all listen', () => Promise.resolve(1), '\n'],
    ['it cannot be asked', () => Promise.reject(new Error('away')), 'bus:a\nbus:b'],
    ['no answer comes', () => new Promise(() => undefined), 'bus:a\nbus:b'],
  ])('is asked about once: %s', async (_, publish, ghosts) => {
    expect(await attachWith(publish)).toEqual(['', ghosts]);
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
    const store = storeOf(answer);
    const stream = { account: 'ann', device: 'phone', id: 's1', generation: 0, mayBeRouted: false } as Stream;
    const attach = () => store.attach(stream, 'bus', true, []).catch(() => undefined);
    await attach();
    expect(stream.mayBeRouted).toBe(may);

    // What was written once stays so, whatever becomes of the next one.
    stream.mayBeRouted = true;
    await attach();
    expect(stream.mayBeRouted).toBe(true);
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
    const stream = { account: 'ann', device: 'phone', id: 's1', generation: 0 } as Stream;
    await store.attach(stream, 'bus', false, []).catch(() => undefined);
    expect(counted).toEqual(causes);
  });
});
