import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { changedJson, type Fields, makeAccount } from './account.ts';

/* How events, answers and reads show a transfer, by the number of its files. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const MOST = LIMITS.filesInEvents;
const ACCEPTED = { state: 'ACCEPTED', accepted: '1' };

/** Opens the relay of an accepted transfer. Returns its answer, and the transfer in its event. */
async function openRelay(fields: Fields) {
  const account = await makeAccount(redis);
  await account.transfer({ ...ACCEPTED, ...fields });
  const reply = await account.prepareAct('laptop', 'relay')();
  const [[, entry] = []] = await account.logged();
  return { reply, event: JSON.parse(entry?.[7] ?? '').transfer };
}

describe('an event', () => {
  test('has the addresses of each file, in order, begun or not', async () => {
    const { event } = await openRelay({ count: '3', r1: '4:70', files: '["list"]' });
    expect(event.files).toEqual(['list']);
    expect(event.uploads).toEqual([
      { index: 0, upload_url: '/api/relay/t1/0/0', offset: 0 },
      { index: 1, upload_url: '/api/relay/t1/1/4', offset: 70 },
      { index: 2, upload_url: '/api/relay/t1/2/0', offset: 0 },
    ]);
    expect(event.downloads).toEqual([
      { index: 0, download_url: '/api/relay/t1/0/0' },
      { index: 1, download_url: '/api/relay/t1/1/4' },
      { index: 2, download_url: '/api/relay/t1/2/0' },
    ]);
  });

  test('has no addresses before the relay is in use', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    await account.prepareAct('phone', 'accept')();
    const [[, entry] = []] = await account.logged();
    const json = changedJson(ACCEPTED);
    expect(entry?.[7]).toBe(`{"transfer":${json},"files":[{"name":"a","size":10}]}}`);
  });

  test('names up to sixteen files, and its answer what they have begun', async () => {
    const { event, reply } = await openRelay({ count: String(MOST), r15: '4:70', files: '["list"]' });
    expect(event.files).toEqual(['list']);
    expect(event.uploads).toHaveLength(MOST);
    expect(event.downloads).toHaveLength(MOST);
    expect(reply).toMatchObject({ files: '["list"]', relay: '1 15:4:70' });
  });

  test('names none of more, nor does its answer', async () => {
    const { event, reply } = await openRelay({ count: String(MOST + 1), r15: '4:70', files: '["few"]' });
    const json = changedJson({ state: 'RELAY_ACTIVE', mode: 'relay', count: String(MOST + 1) });
    expect(event).toEqual(JSON.parse(`${json}}`));
    expect(reply).toMatchObject({ openJson: json, files: '', relay: '1' });
  });
});

describe('a read', () => {
  test('has sixteen files from the record', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ count: String(MOST), files: '["list"]' });
    expect(await account.read('phone')).toMatchObject({ files: '["list"]' });
  });

  test('has more from the list behind their ends, byte for byte', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ count: String(MOST + 1), files: '["few"]' });
    await redis.set(account.keys.files, `${'0'.repeat(8 * (MOST + 1))}["long"]`);
    expect(await account.read('phone')).toMatchObject({ files: '["long"]' });
  });

  test('has the few that are kept when that list is gone', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ state: 'DONE', count: String(MOST + 1), files: '["few"]' });
    expect(await account.read('phone')).toMatchObject({ files: '["few"]' });
  });

  test('has what had begun in the relay when the transfer ended', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ state: 'DONE', relay: '1', begun: '1 0:3:5' });
    expect(await account.read('phone')).toMatchObject({ relay: '1 0:3:5' });
  });

  test.each([
    ['that nobody is known who ended it', '{"code":"failed","detail":null}'],
    ['who ended it', '{"code":"failed","detail":null,"by_device_id":"phone"}'],
    ['that nothing failed', 'null'],
  ])('of a transfer of any version says %s', async (_, error) => {
    const account = await makeAccount(redis);
    await account.transfer({ state: 'FAILED', error });
    const { openJson: json } = await account.read('phone');
    const said = JSON.parse(error);
    expect(JSON.parse(`${json}}`).error).toEqual(said && { by_device_id: null, ...said });
  });
});

test('a change keeps all parts of a transfer for a day, and an hour in which its end is told', async () => {
  const account = await makeAccount(redis);
  await account.transfer();
  await redis.mset(account.keys.files, 'list', account.keys.sealed, 'text');
  const seconds = LIMITS.transferSeconds + 3_600;
  await expectLifetimes(redis, account.prepareAct('phone', 'accept'), {
    ...{ [account.keys.record]: seconds, [account.keys.files]: seconds, [account.keys.sealed]: seconds },
  });
});
