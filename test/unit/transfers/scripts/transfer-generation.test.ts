import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { type Fields, makeAccount } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

describe('a file begins in the relay', () => {
  const sent = (generation: number, offset: number) =>
    `{"transfer_id":"t1","index":0,"upload_url":"/api/relay/t1/0/${generation}","offset":${offset}}`;

  test('for the first time', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    const first = await account.generation(null, 1, { tells: false });
    expect(first).toEqual({ generation: 1, refusingState: '', isNew: true, announced: [] });
    expect(await account.stored()).toMatchObject({ r0: '1:0' });
    expect(await account.stored()).not.toHaveProperty('w0');
  });

  test('again, of which its sender is told', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ r0: '1:0' });
    const { announced, ...reply } = await account.generation(1, 2, { offset: 5 });
    expect(reply).toEqual({ generation: 2, refusingState: '', isNew: true });
    expect(await account.stored()).toMatchObject({ r0: '2:5', w0: `2:5 ${NOW}` });
    const [id, entry] = (await account.logged())[0] ?? ['', []];
    expect(entry?.slice(2, 8)).toEqual(['e', 'relay:rewind', 't', 'laptop', 'd', sent(2, 5)]);
    const fields = ['e', account.name, id, '', 'relay:rewind', 'laptop', NOW, sent(2, 5)];
    expect(announced).toEqual([{ channel: 'bus:watch', label: 'relay:rewind', payload: fields.join('\n') }]);
  });

  test.each<[string, Fields, number | null]>([
    ['has another', { r0: '3:7' }, 1],
    ['has one', { r0: '3:7' }, null],
  ])('not where it %s', async (_, fields, known) => {
    const account = await makeAccount(redis);
    await account.transfer(fields);
    const reply = await account.generation(known, 2);
    expect(reply).toEqual({ generation: 3, refusingState: '', isNew: false, announced: [] });
    expect(await account.stored()).toMatchObject({ r0: '3:7' });
  });

  test('not where it has none though one is expected', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    expect(await account.generation(1, 2)).toMatchObject({ generation: 0, isNew: false, announced: [] });
    expect(await account.stored()).not.toHaveProperty('r0');
  });

  test.each<[string, number | null, boolean, string]>([
    ['is refused for the first time', null, false, 'DONE'],
    ['is refused where its sender would be told', 1, true, 'DONE'],
    ['is let be where nobody is told', 1, false, ''],
  ])('in an ended transfer %s', async (_, known, tells, refusingState) => {
    const account = await makeAccount(redis);
    await account.transfer({ state: 'DONE' });
    const reply = await account.generation(known, 2, { tells });
    expect(reply).toEqual({ generation: 2, refusingState, isNew: false, announced: [] });
    expect(await account.stored()).not.toHaveProperty('r0');
  });

  test('not without a record', async () => {
    const account = await makeAccount(redis);
    await expect(account.generation(null, 1)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the sender is told again of the generation that a file has', () => {
  const TELL_AGAIN_MS = 30_000;

  test.each([
    ['not at once', `2:5 ${NOW}`, 0],
    ['not within half a minute', `2:5 ${NOW - TELL_AGAIN_MS + 1}`, 0],
    ['after half a minute', `2:5 ${NOW - TELL_AGAIN_MS}`, 1],
    ['when the clock was set back by as much', `2:5 ${NOW + TELL_AGAIN_MS}`, 1],
    ['when it was told another offset', `2:4 ${NOW}`, 1],
    ['when it was told nothing', null, 1],
  ])('%s', async (_, w0, count) => {
    const account = await makeAccount(redis);
    await account.transfer({ r0: '2:6', ...(w0 === null ? {} : { w0 }) });
    const { announced, ...reply } = await account.generation(2, 2, { offset: 5 });
    expect(reply).toEqual({ generation: 2, refusingState: '', isNew: false });
    expect(announced).toHaveLength(count);
    // The record stays as it is: the generation still begins where it began.
    expect(await account.stored()).toMatchObject({ r0: '2:6', ...(count === 1 && { w0: `2:5 ${NOW}` }) });
  });

  test('not when only the offset moves', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ r0: '2:0' });
    expect(await account.generation(2, 2, { offset: 10, tells: false })).toMatchObject({ isNew: false, announced: [] });
    expect(await account.stored()).toMatchObject({ r0: '2:10' });
    expect(await account.logged()).toEqual([]);
  });
});
