import { makeHubStore } from '../../../services/sync/hub/store.ts';
import type { Stream } from '../../../services/sync/hub/stream.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';
import type { ScriptLoader } from '../../../services/sync/redis/scripts.ts';

test('a stream that opens is given all of presence, also when it was told of it while it asked', async () => {
  const stream = { account: 'ann', device: 'phone', id: 's1', generation: 0, position: '', presenceVersion: 0 };
  const attach = () => {
    stream.presenceVersion = 900;
    return Promise.resolve(['attached', '1-1', '900', ['phone', 'row'], ['phone', '1800'], '', '0 0']);
  };
  const scripts = { load: () => attach } as unknown as ScriptLoader;
  const publish = () => Promise.resolve(1);
  const store = makeHubStore({ scripts, keys: makeKeys('test'), graceMs: 0, deadChannels: () => '', publish });

  const { presence } = await store.attach(stream as Stream, 'bus', true, ['s1']);

  expect(presence).toEqual({ devices: ['phone', 'row'], states: ['phone', '1800'] });
});

describe('a limit that others may only seem to reach', () => {
  const FULL = ['full', ['bus:a', 'bus:b', 'bus:a']];

  /** The last words that the script was given, time after time. */
  async function attachWith(publish: (channel: string) => Promise<number>): Promise<unknown[]> {
    const given: unknown[] = [];
    const attach = (_keys: string[], words: unknown[]) => {
      given.push(words.at(-1));
      return Promise.resolve(given.length === 1 ? FULL : ['busy']);
    };
    const scripts = { load: () => attach } as unknown as ScriptLoader;
    const store = makeHubStore({ scripts, keys: makeKeys('test'), graceMs: 0, deadChannels: () => '', publish });
    const stream = { account: 'ann', device: 'phone', id: 's1', generation: 0, position: '', presenceVersion: 0 };
    expect((await store.attach(stream as Stream, 'bus', true, ['s1'])).outcome).toBe('busy');
    expect(stream.generation).toBe(1);
    return given;
  }

  test.each<[string, (channel: string) => Promise<number>, string]>([
    ['nobody listens there', (channel) => Promise.resolve(channel === 'bus:a' ? 0 : 1), 'bus:a'],
    ['all listen', () => Promise.resolve(1), '\n'],
    ['it cannot be asked', () => Promise.reject(new Error('away')), '\n'],
    ['no answer comes', () => new Promise(() => undefined), '\n'],
  ])('is asked about once: %s', async (_, publish, ghosts) => {
    expect(await attachWith(publish)).toEqual(['', ghosts]);
  });
});
