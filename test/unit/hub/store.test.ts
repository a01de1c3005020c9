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
