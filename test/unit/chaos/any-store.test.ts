import { heldIn } from '../../chaos/stores/any-store.ts';
import { connectTo, sharedRedisUrl } from '../../support/redis.ts';
import { randomUser } from '../../support/device.ts';

test('of positions those are named that the log still holds', async () => {
  const redis = connectTo(sharedRedisUrl());
  const account = randomUser();
  const log = `chaos:{${account}}:log`;
  for (const id of ['10-1', '20-1', '30-1']) await redis.xadd(log, id, 'name', 'value');
  await redis.xdel(log, '20-1');

  expect(await heldIn([redis], account, ['10-1', '20-1', '30-1', '40-1'])).toEqual(['10-1', '30-1']);
  await redis.del(log);
  redis.disconnect();
});
