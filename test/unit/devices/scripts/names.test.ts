import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { makeAccount, rowOf } from './account.ts';

/* The devices that a name means, and the names that are taken. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

describe('a name means', () => {
  test.each([
    ['the device that has it', 'Work PC', 'd1'],
    ['the device that has it, beside one whose name looks the same', 'work pc', 'd2'],
    ['the device whose name looks the same in another case', 'OLD phone', 'd3'],
    ['the device whose name looks the same with other spaces', ' Old   Phone ', 'd3'],
  ])('%s', async (_, name, id) => {
    const account = await makeAccount(redis);
    await account.rows({ d1: rowOf('Work PC'), d2: rowOf('work pc'), d3: rowOf('Old Phone'), d4: rowOf('Oldphone') });
    expect((await account.send(`~${name}`)).targets?.map(([found]) => found)).toEqual([id]);
  });

  test.each([
    ['nobody, if several names look the same and none is it', '~WORK PC', 'name_taken'],
    ['nobody, if no name looks the same', '~Work PC 2', 'not_found'],
  ])('%s', async (_, wanted, code) => {
    const account = await makeAccount(redis);
    await account.rows({ d1: rowOf('Work PC'), d2: rowOf('work pc'), d3: rowOf('Old Phone') });
    await expect(account.send(wanted)).rejects.toMatchObject({ code });
  });

  test('the streams without a device that have it, which count as one', async () => {
    const account = await makeAccount(redis);
    await account.stream('s2', '~Desk');
    await account.stream('s3', '~Desk');
    expect((await account.send('~desk')).targets).toEqual([['', 'Desk', '', false]]);
    expect((await account.send('~Desk')).targets).toEqual([['', 'Desk', '', false]]);
  });

  test('nobody, if streams of several such names are open', async () => {
    const account = await makeAccount(redis);
    await account.stream('s2', '~Desk');
    await account.stream('s3', '~DESK');
    await expect(account.send('~desk')).rejects.toMatchObject({ code: 'name_taken' });
    expect((await account.send('~DESK')).targets).toEqual([['', 'DESK', '', false]]);
  });
});

describe('a name is taken', () => {
  test.each([
    ['by a device that has it', 'Phone', true],
    ['by a device whose name looks the same', 'PHONE', true],
    ['by a stream without a device', 'Desk', true],
    ['by such a stream whose name looks the same', 'desk', true],
    ['not by the device itself', 'LAPTOP', false],
    ['not by the id of a device with a stream', 'tablet', false],
    ['not by a name that differs by more than its looks', 'Phone 2', false],
  ])('%s', async (_, name, isTaken) => {
    const account = await makeAccount(redis);
    await account.rows({ phone: rowOf('Phone') });
    await account.stream('s2', '~Desk');
    await account.stream('s3', '~Shelf');
    const renamed = account.prepareRename('laptop', name)();
    if (isTaken) await expect(renamed).rejects.toMatchObject({ code: 'name_taken' });
    else expect((await renamed).row).toBe(rowOf(name));
  });
});
