import { makeDueStore } from '../../../services/sync/due/store.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';

/** Makes the store of an index that may be away, and the calls that it took. */
function makeScene() {
  const scene = { isAway: true, calls: [] as unknown[] };
  const define = () => (_: object, args: object) => {
    if (scene.isAway) return Promise.reject(new Error('away'));
    scene.calls.push('account' in args ? args : 'claim');
    return Promise.resolve({ claimed: [] });
  };
  const store = makeDueStore({ scripts: { define } as never, redis: {} as never, keys: makeKeys('p') });
  return { scene, store, shard: makeKeys('p').dueShard('ann') };
}

test('an account that could not be written into the index is written before the next claim, once', async () => {
  const { scene, store, shard } = makeScene();
  await expect(store.schedule('ann', 2_000)).rejects.toThrow('away');
  await expect(store.claim(shard, 1)).rejects.toThrow('away');
  scene.isAway = false;
  await store.claim((shard + 1) % store.shards, 1);
  expect(scene.calls).toEqual(['claim']);
  await store.claim(shard, 1);
  await store.claim(shard, 1);

  // The stamp shows that a request may be about to write its job.
  const written = { account: 'ann', delayMs: 0, nonce: expect.stringMatching(/./) };
  expect(scene.calls).toEqual(['claim', written, 'claim', 'claim']);
});
