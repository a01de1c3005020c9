import type { Deletion, MemberProof } from '../../shared/contract/modules/keys.ts';
import { LIMITS } from '../../shared/contract/limits.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import {
  type Account,
  type Keyed,
  keyed,
  type MadeRing,
  makeRing,
  sha256,
  signed,
  signParts,
} from '../support/sealed/keyring.ts';
import { type Site, startSite } from '../support/site.ts';
import { until } from '../support/redis/redis-processes.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';

const SERVICE = 'https://baton.example';

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_SERVICE_ID: SERVICE, APP_RATE_LIMIT_SCALE: '0' });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const accountOf = ({ user }: TestDevice): Account => ({ service: SERVICE, user });
/** Expects that a conflict names the ring in force. */
function expectConflict({ status, body }: WireAnswer, n: number): void {
  expect({ status, body }).toMatchObject({ status: 409, body: { code: 'keys_conflict', n } });
}
const storedKey = ({ user }: TestDevice) => `${site.prefix}:{${user}}:keys`;

const ask = (
  { headers }: TestDevice,
  method: string,
  path: string,
  { body, match, replica = site.one }: { body?: unknown; match?: string; replica?: ReplicaProcess } = {},
): Promise<WireAnswer> =>
  request(replica, {
    method,
    path,
    headers: { ...headers, ...(match !== undefined && { 'If-Match': match }) },
    ...(body !== undefined && { body }),
  });

const put = (device: TestDevice, { text, n }: Pick<MadeRing, 'text' | 'n'>, replica = site.one) =>
  ask(device, 'PUT', '/api/keys', { body: { ring: text }, match: `"${n - 1}"`, replica });

interface Page {
  rings: string[];
  n: number;
  guests: string | null;
  deletions: Deletion[];
}
const read = async (device: TestDevice, after = 0, replica = site.two) =>
  (await ask(device, 'GET', `/api/keys?after=${after}`, { replica })).body as Page;

/** Makes two devices of an account. The first has made a ring of itself. */
async function encrypted(): Promise<{
  laptop: TestDevice;
  phone: TestDevice;
  own: Keyed;
  other: Keyed;
  first: MadeRing;
}> {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const [own, other] = [keyed(laptop), keyed(phone)];
  const first = makeRing(accountOf(laptop), { by: own, members: [own] });
  expect((await put(laptop, first)).status).toBe(200);
  return { laptop, phone, own, other, first };
}

const proof = (by: Keyed, account: Account, label: string, n: number, more: string[] = []): MemberProof => ({
  device_id: by.id,
  n,
  signature: signParts(by, [label, account.service, account.user, String(n), ...more]),
});

describe('a ring', () => {
  test('is read as it was put, by every device, on whatever replica; and there is none before', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    expectProblem(await ask(laptop, 'GET', '/api/keys'), 'not_found');
    const own = keyed(laptop);
    const first = makeRing(accountOf(laptop), { by: own, members: [own] });
    const answer = await put(laptop, first);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { n: 1 } });
    expect(await read(phone)).toEqual({ rings: [first.text], n: 1, guests: null, deletions: [] });
  });

  test('follows the one before it, is told to every device, and is read from where a device has come', async () => {
    const { laptop, phone, own, other, first } = await encrypted();
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    let before = first;
    const made = [first];
    for (let i = 0; i < 10; i++) {
      before = makeRing(accountOf(laptop), { by: own, members: [own, other], before });
      expect((await put(laptop, before, i % 2 ? site.one : site.two)).status).toBe(200);
      made.push(before);
    }
    for (let n = 2; n <= 11; n++) {
      const { id, data } = await stream.next('keys');
      expect({ id, data }).toEqual({ id: expect.stringMatching(/^\d+-\d+$/), data: { n } });
    }
    const texts = made.map(({ text }) => text);
    expect(await read(phone)).toMatchObject({ n: 11, rings: texts.slice(0, LIMITS.ringsPerPage) });
    expect(await read(phone, 8)).toMatchObject({ n: 11, rings: texts.slice(8) });
    expect(await read(phone, 11)).toMatchObject({ n: 11, rings: [] });
    expect(await read(phone, Number.MAX_SAFE_INTEGER)).toMatchObject({ n: 11, rings: [] });
  });

  test('may be signed by any member of the one before it, and from whichever device it is sent', async () => {
    const { laptop, phone, own, other, first } = await encrypted();
    const second = makeRing(accountOf(laptop), { by: own, members: [own, other], before: first });
    await put(laptop, second);
    const third = makeRing(accountOf(laptop), { by: other, members: [other], before: second, says: { epoch: 2 } });
    expect((await put(laptop, third)).status).toBe(200);
    // A member that is gone can no longer sign anything.
    const fourth = makeRing(accountOf(laptop), { by: own, members: [own, other], before: third });
    const answer = await put(laptop, fourth);
    expect(expectProblem(answer, 'invalid_request').detail).toContain('is not signed by a member of ring 3');
    const genuine = makeRing(accountOf(laptop), { by: other, members: [other], before: third });
    expect((await put(phone, genuine)).status).toBe(200);
  });

  test('that is put again after a lost answer is answered as before, and told once', async () => {
    const { laptop, phone, own, first } = await encrypted();
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    const second = makeRing(accountOf(laptop), { by: own, members: [own], before: first });
    for (const replica of [site.one, site.two, site.one]) expect((await put(laptop, second, replica)).status).toBe(200);
    const third = makeRing(accountOf(laptop), { by: own, members: [own], before: second });
    await put(laptop, third);
    expect((await stream.next('keys')).data).toEqual({ n: 2 });
    expect((await stream.next('keys')).data).toEqual({ n: 3 });
    expectConflict(await put(laptop, second), 3);
  });

  test('that does not follow is a conflict, which says how far the others are', async () => {
    const { laptop, own, first } = await encrypted();
    const second = makeRing(accountOf(laptop), { by: own, members: [own], before: first });
    const ahead = makeRing(accountOf(laptop), { by: own, members: [own], before: second });
    for (const ring of [ahead, makeRing(accountOf(laptop), { by: own, members: [own], says: { older: 'AA' } })]) {
      expectConflict(await put(laptop, ring), 1);
    }
    expect(await read(laptop)).toMatchObject({ n: 1, rings: [first.text] });
  });

  test('is kept with the newest 1,024, and with 4 MiB', async () => {
    const { laptop, own, first } = await encrypted();
    const before = { ...first, n: LIMITS.rings };
    const numbers = Array.from({ length: LIMITS.rings }, (_, i) => i + 1);
    const stored = Object.fromEntries(numbers.map((n) => [n, n === LIMITS.rings ? first.text : `r${n}`]));
    await site.redis.hset(storedKey(laptop), { ...stored, n: LIMITS.rings });
    const next = makeRing(accountOf(laptop), { by: own, members: [own], before });
    expect((await put(laptop, next)).status).toBe(200);
    expect((await read(laptop)).rings).toEqual(numbers.slice(1, 1 + LIMITS.ringsPerPage).map((n) => `r${n}`));
    await site.redis.hset(storedKey(laptop), { first: LIMITS.rings, bytes: LIMITS.ringsBytes - 100 });
    const last = makeRing(accountOf(laptop), { by: own, members: [own], before: next });
    expect((await put(laptop, last)).status).toBe(200);
    expect(await read(laptop)).toMatchObject({ n: LIMITS.rings + 2, rings: [next.text, last.text] });
  });

  test('of 64 members fits, and one that is too long is refused', async () => {
    const { laptop, own, first } = await encrypted();
    const many = Array.from({ length: 63 }, (_, i) => keyed({ id: `device-${String(i).padStart(13, '0')}` }));
    const second = makeRing(accountOf(laptop), { by: own, members: [own, ...many], before: first });
    expect(second.text.length).toBeGreaterThan(30_000);
    expect((await put(laptop, second)).status).toBe(200);
    const third = makeRing(accountOf(laptop), {
      by: own,
      members: [own],
      before: second,
      says: { older: 'A'.repeat(LIMITS.ringBytes) },
    });
    expectProblem(await put(laptop, third), 'body_too_large');
  });

  test('is the account’s: that of another, or of another installation, is refused', async () => {
    const { laptop, own } = await encrypted();
    const stranger = makeDevice({ user: randomUser() });
    await stranger.on(site.one).call('getMe');
    const foreign = makeRing(accountOf(laptop), { by: own, members: [own] });
    const answer = await put(stranger, foreign);
    expect(expectProblem(answer, 'invalid_request').errors).toEqual([
      { path: '/body/ring/user_id', message: 'is not the user of the caller' },
    ]);
    const mine = keyed(stranger);
    const elsewhere = makeRing(
      { ...accountOf(stranger), service: 'https://other.example' },
      { by: mine, members: [mine] },
    );
    expect(expectProblem(await put(stranger, elsewhere), 'invalid_request').errors?.[0]?.path).toBe(
      '/body/ring/service',
    );
    expectProblem(await ask(stranger, 'GET', '/api/keys'), 'not_found');
  });
});

describe('what is malformed is refused with its place, and nothing is stored', () => {
  const POINT_OFF_THE_CURVE = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString('base64url');
  const unlike = (ring: MadeRing, change: (members: Record<string, unknown>[]) => unknown) =>
    change(structuredClone(ring.ring.members));

  test.each<[string, string, (own: Keyed, good: MadeRing) => Record<string, unknown>]>([
    ['another version', '/body/ring/v', () => ({ v: 2 })],
    ['another number than If-Match says', '/body/ring/n', () => ({ n: 3 })],
    ['a fraction for a number', '/body/ring/n', () => ({ n: 2.5 })],
    ['another ring before it', '/body/ring/prev_hash', () => ({ prev_hash: sha256(Buffer.from('x')) })],
    ['an epoch of before', '/body/ring/epoch', () => ({ epoch: 0 })],
    ['a leap of the epoch', '/body/ring/epoch', () => ({ epoch: 3 })],
    ['another key in the same epoch', '/body/ring/key_id', () => ({ key_id: sha256(Buffer.from('x')) })],
    ['no member', '/body/ring/members', () => ({ members: [] })],
    ['a member twice', '/body/ring/members/1/device_id', (_, good) => ({ members: unlike(good, ([a]) => [a, a]) })],
    [
      '81 members',
      '/body/ring/members',
      (_, good) => ({ members: unlike(good, ([a]) => Array.from({ length: 81 }, () => a)) }),
    ],
    [
      'a short key',
      '/body/ring/members/0/enc',
      (_, good) => ({ members: unlike(good, ([a]) => [{ ...a, enc: 'BAAA' }]) }),
    ],
    [
      'a key off the curve',
      '/body/ring/members/0/sig',
      (_, good) => ({ members: unlike(good, ([a]) => [{ ...a, sig: POINT_OFF_THE_CURVE }]) }),
    ],
    ['a wrap for somebody else', '/body/ring/wraps/nobody', (own) => ({ wraps: { [own.id]: 'AA', nobody: 'AA' } })],
    ['a wrap that is no base64url', '/body/ring/wraps', (own) => ({ wraps: { [own.id]: 'a+b/' } })],
  ])('%s', async (_, path, says) => {
    const { laptop, own, first } = await encrypted();
    const good = makeRing(accountOf(laptop), { by: own, members: [own], before: first });
    const bad = makeRing(accountOf(laptop), { by: own, members: [own], before: first, says: says(own, good) });
    const before = await site.redis.hgetall(storedKey(laptop));
    const answer = await put(laptop, { text: bad.text, n: 2 });
    const { errors = [] } = expectProblem(answer, 'invalid_request');
    expect(errors.map((error) => error.path).join(' ')).toContain(path);
    expect(await site.redis.hgetall(storedKey(laptop))).toEqual(before);
  });

  test('texts that are no ring', async () => {
    const { laptop, own } = await encrypted();
    const account = accountOf(laptop);
    const bytes = (text: string | Uint8Array) => Buffer.from(text as string);
    const texts = [
      'x',
      'e30',
      'e30.e30',
      `e30.${'A'.repeat(86)}.${'A'.repeat(86)}`,
      `.${'A'.repeat(86)}`,
      // These have leftover bits, padding, and the other alphabet.
      `e31.${'A'.repeat(86)}`,
      `e30=.${'A'.repeat(86)}`,
      `e30.${'A'.repeat(85)}B`,
      `e3+.${'A'.repeat(86)}`,
      signed(own, account, 'baton/1 ring', bytes('{"v":1')),
      signed(own, account, 'baton/1 ring', bytes('[]')),
      signed(own, account, 'baton/1 ring', bytes('null')),
      signed(own, account, 'baton/1 ring', Buffer.of(0x7b, 0xff, 0x7d)),
      signed(own, account, 'baton/1 ring', bytes('['.repeat(2_000))),
    ];
    for (const text of texts) expectProblem(await put(laptop, { text, n: 2 }), 'invalid_request');
    const good = makeRing(account, { by: own, members: [own] });
    for (const match of [undefined, '1', '"x"', '"-1"', '"01"', '*', '"9999999999999999"']) {
      const options = { body: { ring: good.text }, ...(match !== undefined && { match }) };
      const { errors } = expectProblem(await ask(laptop, 'PUT', '/api/keys', options), 'invalid_request');
      expect(errors?.[0]?.path).toBe('/header/If-Match');
    }
  });

  test('a signature over other words, by another key, for another user', async () => {
    const { laptop, phone, own, other, first } = await encrypted();
    const account = accountOf(laptop);
    const wishes = { members: [own, other], before: first };
    const good = makeRing(account, { by: own, ...wishes });
    const bytes = Buffer.from(JSON.stringify(good.ring));
    const forged = [
      makeRing(account, { by: other, ...wishes }).text,
      signed(own, account, 'baton/1 guests', bytes),
      signed(own, { ...account, user: phone.id }, 'baton/1 ring', bytes),
      signed(own, { ...account, service: 'x' }, 'baton/1 ring', bytes),
      `${good.text.split('.')[0]}.${'A'.repeat(86)}`,
    ];
    for (const text of forged) {
      expect(expectProblem(await put(laptop, { text, n: 2 }), 'invalid_request').errors).toEqual([
        { path: '/body/ring', message: 'is not signed by a member of ring 1' },
      ]);
    }
    expect((await put(laptop, good)).status).toBe(200);
  });
});

describe('guests', () => {
  const listOf = (by: Keyed, account: Account, n: number, guests: Keyed[]) => {
    const list = { n, guests: guests.map(({ id, enc, sig }) => ({ device_id: id, enc, sig, until: 9 })) };
    const bytes = Buffer.from(JSON.stringify(list));
    return { text: signed(by, account, 'baton/1 guests', bytes), hash: sha256(bytes) };
  };
  const putGuests = (device: TestDevice, { text }: { text: string }, match?: string) =>
    ask(device, 'PUT', '/api/keys/guests', { body: { guests: text }, ...(match !== undefined && { match }) });

  test('stand beside the chain, are replaced as a whole, and are told of', async () => {
    const { laptop, phone, own, other } = await encrypted();
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    const one = listOf(own, accountOf(laptop), 1, [other]);
    expect((await putGuests(laptop, one, '""')).body).toEqual({ n: 1 });
    expect((await stream.next('keys')).data).toEqual({ n: 1 });
    expect(await read(phone)).toMatchObject({ n: 1, guests: one.text });
    // This repeats the call, as after a lost answer.
    expect((await putGuests(laptop, one, '""')).status).toBe(200);
    const none = listOf(own, accountOf(laptop), 1, []);
    expectConflict(await putGuests(laptop, none, '""'), 1);
    expect((await putGuests(laptop, none, `"${one.hash}"`)).status).toBe(200);
    expect((await putGuests(laptop, one)).status).toBe(200);
    expect(await read(phone)).toMatchObject({ n: 1, guests: one.text });
  });

  test('are refused without a ring, under another ring, and without the signature of a member', async () => {
    const { laptop, own, other } = await encrypted();
    const account = accountOf(laptop);
    expectProblem(await putGuests(laptop, listOf(other, account, 1, [other])), 'invalid_request');
    expectConflict(await putGuests(laptop, listOf(own, account, 2, [])), 1);
    expectProblem(await putGuests(laptop, listOf(own, account, 1, [other, other])), 'invalid_request');
    const [lone] = await site.enrol('Lone');
    const mine = keyed(lone);
    expectProblem(await putGuests(lone, listOf(mine, accountOf(lone), 1, [])), 'not_found');
  });
});

describe('removing the rings', () => {
  const remove = (device: TestDevice, body?: unknown) =>
    ask(device, 'DELETE', '/api/keys', body === undefined ? {} : { body });
  const dueJobs = ({ user }: TestDevice) => site.redis.zrange(`${site.prefix}:{${user}}:due`, '0', '-1');
  /** Moves the announcement into the past, as if a day had passed. */
  async function letDayPass(device: TestDevice, of: 'keys' | 'account') {
    const now = String(Date.now() - 1_000);
    await site.redis.hset(storedKey(device), `deletion:${of}`, now);
    await site.redis.zadd(`${site.prefix}:{${device.user}}:due`, now, `keys:${of}`);
    for (let shard = 0; shard < 16; shard++) {
      await site.redis.zadd(`${site.prefix}:due:{${shard}}`, 'XX', 1, device.user);
    }
  }

  test('is done at once when a member signs it, and a new first ring may be made', async () => {
    const { laptop, phone, own, other } = await encrypted();
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    const signedProof = proof(own, accountOf(laptop), 'baton/1 keys delete', 1);
    expect((await remove(phone, signedProof)).status).toBe(204);
    expect((await stream.next('keys')).data).toEqual({ n: 0 });
    expect(await site.redis.exists(storedKey(laptop))).toBe(0);
    expect((await remove(phone, signedProof)).status).toBe(204);
    const anew = makeRing(accountOf(laptop), { by: other, members: [other] });
    expect((await put(phone, anew)).status).toBe(200);
  });

  test('is refused with the wish of another ring, of nobody, or of half a proof', async () => {
    const { laptop, own, other } = await encrypted();
    const account = accountOf(laptop);
    const label = 'baton/1 keys delete';
    expectConflict(await remove(laptop, proof(own, account, label, 2)), 1);
    const bad = [
      proof(other, account, label, 1),
      proof({ ...other, id: own.id }, account, label, 1),
      proof(own, account, 'baton/1 keys keep', 1),
      { device_id: own.id, n: 1 },
      { n: 1 },
    ];
    for (const body of bad) expectProblem(await remove(laptop, body), 'invalid_request');
    expect(await read(laptop)).toMatchObject({ n: 1, deletions: [] });
  });

  test('without a signature it is announced, carried out a day later, and never sooner', async () => {
    const { laptop, phone } = await encrypted();
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    const before = Date.now();
    const { status, body } = await remove(laptop);
    const { deletion } = body as { deletion: Deletion };
    expect({ status, of: deletion.of }).toEqual({ status: 202, of: 'keys' });
    expect(deletion.at - before).toBeGreaterThan(86_000_000);
    expect((await stream.next('keys')).data).toEqual({ n: 1 });
    expect((await read(phone)).deletions).toEqual([deletion]);
    // A second announcement neither delays nor hastens the removal.
    expect((await remove(laptop)).body).toEqual({ deletion });
    await letDayPass(laptop, 'keys');
    expect((await stream.next('keys')).data).toEqual({ n: 0 });
    expect(await site.redis.exists(storedKey(laptop))).toBe(0);
    expect(await dueJobs(laptop)).toEqual([]);
  });

  test('is cancelled by the objection of a member, and by its next ring', async () => {
    const { laptop, phone, own, other, first } = await encrypted();
    const account = accountOf(laptop);
    const keep = (body: MemberProof) => ask(phone, 'POST', '/api/keys/keep', { body });
    const { at } = ((await remove(laptop)).body as { deletion: Deletion }).deletion;
    const objection = proof(own, account, 'baton/1 keys keep', 1, [String(at)]);
    expectProblem(await keep(proof(other, account, 'baton/1 keys keep', 1, [String(at)])), 'invalid_request');
    expectProblem(await keep(proof(own, account, 'baton/1 keys keep', 1, [String(at + 1)])), 'invalid_request');
    expect((await keep(objection)).status).toBe(204);
    expect((await read(laptop)).deletions).toEqual([]);
    expect(await dueJobs(laptop)).not.toContain('keys:keys');

    await remove(laptop);
    expect((await read(laptop)).deletions).toHaveLength(1);
    expect((await put(laptop, makeRing(account, { by: own, members: [own], before: first }))).status).toBe(200);
    expect((await read(laptop)).deletions).toEqual([]);
    expect(await dueJobs(laptop)).not.toContain('keys:keys');
  });

  test('does not cancel the end of the account that was announced after it', async () => {
    const { laptop, phone } = await encrypted();
    await phone.on(site.one).call('sendMessage', { body: { to: 'Laptop', content: 'to be erased' } });
    await remove(laptop);
    const erased = (await ask(laptop, 'DELETE', '/api/me/data')).body as { deletion: Deletion };
    await letDayPass(laptop, 'keys');
    await until(
      () => site.redis.hexists(storedKey(laptop), 'n'),
      (left) => left === 0,
      'the end of the rings',
    );
    expect(await dueJobs(laptop)).toContain('keys:account');
    expect(await site.redis.hgetall(storedKey(laptop))).toEqual({ 'deletion:account': String(erased.deletion.at) });
    expectProblem(await ask(laptop, 'GET', '/api/keys'), 'not_found');
    await letDayPass(laptop, 'account');
    await until(
      () => site.redis.exists(storedKey(laptop), `${site.prefix}:{${laptop.user}}:mail`),
      (left) => left === 0,
      'the end of the account',
    );
    expect(await dueJobs(laptop)).toEqual([]);

    // A new ring in between says that the account is wanted.
    const { laptop: kept, own: its } = await encrypted();
    await remove(kept);
    await ask(kept, 'DELETE', '/api/me/data');
    await letDayPass(kept, 'keys');
    await until(
      () => site.redis.hexists(storedKey(kept), 'n'),
      (left) => left === 0,
      'the end of the rings',
    );
    expect((await put(kept, makeRing(accountOf(kept), { by: its, members: [its] }))).status).toBe(200);
    expect(await read(kept)).toMatchObject({ n: 1, deletions: [] });
    expect(await dueJobs(kept)).not.toContain('keys:account');
  });

  test('without a ring there is nothing to remove', async () => {
    const [laptop] = await site.enrol('Laptop');
    expect((await remove(laptop)).status).toBe(204);
    expect(await dueJobs(laptop)).toEqual([]);
  });

  test('an account with a ring is erased by the signature of a member, or a day after it was announced', async () => {
    const erase = (device: TestDevice, body?: unknown) =>
      ask(device, 'DELETE', '/api/me/data', body === undefined ? {} : { body });
    const { laptop, own } = await encrypted();
    expectProblem(await erase(laptop, proof(own, accountOf(laptop), 'baton/1 keys delete', 1)), 'invalid_request');
    const announced = await erase(laptop);
    expect(announced).toMatchObject({ status: 202, body: { deletion: { of: 'account' } } });
    expect(await read(laptop)).toMatchObject({ n: 1, deletions: [{ of: 'account' }] });
    expect((await erase(laptop, proof(own, accountOf(laptop), 'baton/1 erase', 1))).status).toBe(204);
    expect(await site.redis.exists(storedKey(laptop))).toBe(0);

    const { laptop: later, phone } = await encrypted();
    await phone.on(site.one).call('sendMessage', { body: { to: 'Laptop', content: 'to be erased' } });
    await erase(later);
    await letDayPass(later, 'account');
    await until(
      () => site.redis.exists(storedKey(later)),
      (left) => left === 0,
      'the end of the account',
    );
    expect(await site.redis.exists(`${site.prefix}:{${later.user}}:mail`)).toBe(0);
  });
});
