import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { changedJson, CREATED, type Fields, LOG_ID, makeAccount } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const REJECTED = '{"code":"rejected","detail":null,"by_device_id":"phone"}';
const STATES: [string, Fields][] = [
  ['offered', {}],
  ['offered with the relay', { relay: '1', mode: 'relay' }],
  ['accepted', { state: 'ACCEPTED', accepted: '1' }],
  ['peer to peer', { state: 'P2P_ACTIVE', accepted: '1' }],
  ['by the relay', { state: 'RELAY_ACTIVE', accepted: '1', relay: '1', mode: 'relay' }],
  ['done', { state: 'DONE', accepted: '1' }],
  ['failed', { state: 'FAILED', accepted: '1' }],
  ['cancelled', { state: 'CANCELLED', accepted: '1' }],
  ['rejected', { state: 'CANCELLED', error: REJECTED }],
];

/** Where an action leads from each of the states. `-`: it has already happened; `x`: the state refuses it. */
const ACTIONS = {
  accept: ['phone', 'ACCEPTED RELAY_ACTIVE - - - - x x x'],
  reject: ['phone', 'CANCELLED CANCELLED x x x x x x -'],
  p2p: ['phone', 'P2P_ACTIVE P2P_ACTIVE P2P_ACTIVE - P2P_ACTIVE x x x x'],
  relay: ['laptop', 'PENDING - RELAY_ACTIVE RELAY_ACTIVE - x x x x'],
  complete: ['phone', 'x x x DONE DONE - x x x'],
  fail: ['laptop', 'FAILED FAILED FAILED FAILED FAILED x - x x'],
  cancel: ['phone', 'CANCELLED CANCELLED CANCELLED CANCELLED CANCELLED x x - -'],
} as const;
type Action = keyof typeof ACTIONS;

const CASES = Object.entries(ACTIONS).flatMap(([action, [device, row]]) =>
  row.split(' ').map((to, i) => [action as Action, device, ...(STATES[i] as [string, Fields]), to] as const),
);

describe('a transfer moves', () => {
  test.each(CASES)('on %s by the %s while it is %s', async (action, device, _, fields, to) => {
    const account = await makeAccount(redis);
    await account.transfer(fields);
    const before = await account.stored();
    const state = fields.state ?? 'PENDING';
    const { announced, ...reply } = await account.prepareAct(device, action)();
    if (to === 'x') expect(reply).toEqual({ openJson: '', files: '', relay: '', refusingState: state, isNew: false });
    else expect(reply).toMatchObject({ refusingState: '', isNew: to !== '-' && to !== state });
    if (to !== 'x') expect(JSON.parse(`${reply.openJson}}`)).toMatchObject({ state: to === '-' ? state : to });
    const isChanged = to !== 'x' && to !== '-';
    expect(announced).toHaveLength(isChanged ? 1 : 0);
    expect(await account.logged()).toHaveLength(isChanged ? 1 : 0);
    if (!isChanged) expect(await account.stored()).toEqual(before);
    else expect(await account.stored()).toMatchObject({ state: to });
  });

  test.each<[Action, string]>([
    ['accept', 'laptop'],
    ['reject', 'laptop'],
    ['complete', 'laptop'],
    ['relay', 'phone'],
    ['p2p', 'tablet'],
    ['fail', 'tablet'],
    ['cancel', 'tablet'],
    ['accept', ''],
    ['fail', ''],
  ])('not on %s by "%s"', async (action, device) => {
    const account = await makeAccount(redis);
    await account.transfer({ state: 'P2P_ACTIVE' });
    await expect(account.prepareAct(device, action)()).rejects.toMatchObject({ code: 'not_a_party' });
  });

  test.each<[Action, string]>([
    ['p2p', 'laptop'],
    ['fail', 'phone'],
    ['cancel', 'laptop'],
  ])('on %s by the other party too, the %s', async (action, device) => {
    const account = await makeAccount(redis);
    await account.transfer();
    expect(await account.prepareAct(device, action)()).toMatchObject({ isNew: true });
  });

  test.each<[Fields, boolean]>([
    [{}, true],
    [{ state: 'RELAY_ACTIVE' }, true],
    [{ state: 'DONE' }, false],
    [{ state: 'FAILED' }, false],
    [{ state: 'CANCELLED' }, false],
  ])('on a cancel for the account, whatever its state: %j', async (fields, isNew) => {
    const account = await makeAccount(redis);
    await account.transfer(fields);
    expect(await account.prepareAct('', 'cancel')()).toMatchObject({ refusingState: '', isNew });
  });

  test('not without a record', async () => {
    const account = await makeAccount(redis);
    await expect(account.prepareAct('phone', 'accept')()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an action', () => {
  test('is announced and logged for both parties, with the relay that it opened', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ state: 'ACCEPTED', accepted: '1', r0: '3:5' });
    const reply = await account.prepareAct('laptop', 'relay', { phase: 'sending' })();
    const json = changedJson({ state: 'RELAY_ACTIVE', mode: 'relay', phase: 'sending' });
    expect(reply).toMatchObject({ openJson: json, files: '[{"name":"a","size":10}]', relay: '1 0:3:5', isNew: true });
    const url = '/api/relay/t1/0/3';
    const data =
      `{"transfer":${json},"files":[{"name":"a","size":10}],"uploads":[{"index":0,"upload_url":"${url}","offset":5}],` +
      `"downloads":[{"index":0,"download_url":"${url}"}]}}`;
    const [id, entry] = (await account.logged())[0] ?? ['', []];
    expect(entry?.slice(2, 8)).toEqual(['e', 'transfer:updated', 't', 'laptop\tphone', 'd', data]);
    const fields = ['e', account.name, id, '', 'transfer:updated', 'laptop\tphone', NOW, data];
    expect(reply.announced).toEqual([{ channel: 'bus:watch', label: 'transfer:updated', payload: fields.join('\n') }]);
  });

  test.each<[Action, Fields, Fields]>([
    ['accept', {}, { accepted: '1', mode: 'p2p', relay: '0' }],
    ['relay', {}, { accepted: '0', mode: 'relay', relay: '1' }],
    ['p2p', { state: 'RELAY_ACTIVE', mode: 'relay', relay: '1' }, { accepted: '1', mode: 'p2p', relay: '1' }],
    ['complete', { state: 'P2P_ACTIVE' }, { accepted: '1' }],
    ['fail', {}, { accepted: '0', mode: 'p2p', relay: '0' }],
    ['cancel', { mode: 'relay' }, { accepted: '0', mode: 'relay', relay: '0' }],
  ])('writes what follows from it: %s', async (action, fields, written) => {
    const account = await makeAccount(redis);
    await account.transfer(fields);
    await account.prepareAct(action === 'relay' ? 'laptop' : 'phone', action)();
    expect(await account.stored()).toMatchObject({
      ...{ ...written, phase: 'initializing', error: 'null', updated: String(NOW), expires: String(NOW + 86_400_000) },
    });
    expect(await redis.zscore(account.keys.due, 'transfer:t1')).toBe(String(NOW + 86_400_000));
  });

  test('writes its phase and its error', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    await account.prepareAct('phone', 'reject', { phase: 'rejected', error: REJECTED })();
    expect(await account.stored()).toMatchObject({ phase: 'rejected', error: REJECTED });
  });

  test.each<[Action, boolean]>([
    ['relay', true],
    ['p2p', false],
    ['cancel', false],
  ])('%s leaves the offer pending: %s', async (action, isPending) => {
    const account = await makeAccount(redis);
    await account.transfer();
    await account.prepareAct('laptop', action)();
    expect((await account.offers()).includes(`phone pending ${LOG_ID}:t1`)).toBe(isPending);
    expect(await account.offers()).toContain(`phone all ${CREATED}-t1`);
  });

  test('that ends a transfer frees its place among the live ones, and its long parts', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ state: 'RELAY_ACTIVE', relay: '1', r0: '3:5', sealed: '""' });
    await redis.mset(account.keys.files, 'list', account.keys.sealed, 'text');
    expect(await account.prepareAct('phone', 'complete')()).toMatchObject({ relay: '1 0:3:5' });
    expect(await account.transfers()).toEqual(['t1', String(NOW)]);
    expect(await redis.exists(account.keys.files, account.keys.sealed)).toBe(0);
    expect(await account.stored()).not.toHaveProperty('r0');
  });

  test('that ends one of many files names all of them in the relay, to be dropped there', async () => {
    const account = await makeAccount(redis);
    const many = { state: 'RELAY_ACTIVE', relay: '1', count: '17', r16: '3:5' };
    await account.transfer(many);
    expect(await account.prepareAct('laptop', 'p2p')()).toMatchObject({ files: '', relay: '1' });
    expect(await account.prepareAct('laptop', 'cancel')()).toMatchObject({ files: '', relay: '1 16:3:5' });
  });
});

describe('an action that is sent again', () => {
  test('took effect, also where the transfer has ended since', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    const accept = account.prepareAct('phone', 'accept');
    await accept();
    await account.prepareAct('laptop', 'cancel')();
    expect(await accept(500)).toMatchObject({ refusingState: '', isNew: false });
    expect(await account.logged()).toHaveLength(2);
  });

  test('is carried out when the first copy was not', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    expect(await account.prepareAct('phone', 'accept')(500)).toMatchObject({ isNew: true });
  });

  test('is refused when the log has lost what came since', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    await redis.xadd(account.keys.log, `${NOW}-1`, 'p', `${NOW - 1}-1`, 'e', '', 't', '', 'd', '', 's', '0');
    await expect(account.prepareAct('phone', 'accept')(60_000)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
