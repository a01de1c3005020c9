import { createHash } from 'node:crypto';
import type { Ring } from '../../shared/contract/modules/keys.ts';
import type { TestDevice } from '../support/device.ts';
import { type ReplicaProcess, startReplica } from '../support/replicas.ts';
import { sharedRedisUrl } from '../support/redis/redis.ts';
import { type Keyed, keyed, type MadeRing, makeRing } from '../support/sealed/keyring.ts';
import { type Site, startSite } from '../support/site.ts';
import { request } from '../support/wire.ts';

const SERVICE = 'https://baton.example';
const ENV = { APP_SERVICE_ID: SERVICE, APP_RATE_LIMIT_SCALE: '0' };

let site: Site;
beforeAll(async () => {
  site = await startSite(ENV);
});
afterAll(() => site.stop());

async function put({ headers }: TestDevice, { text, n }: MadeRing, replica: ReplicaProcess): Promise<number> {
  const answer = await request(replica, {
    ...{ method: 'PUT', path: '/api/keys', body: { ring: text } },
    headers: { ...headers, 'If-Match': `"${n - 1}"` },
  }).catch(() => null);
  return answer?.status ?? 0;
}

async function chainOf({ headers }: TestDevice, replica: ReplicaProcess): Promise<string[]> {
  const rings: string[] = [];
  for (;;) {
    const { body } = await request(replica, { path: `/api/keys?after=${rings.length}`, headers });
    const page = body as { rings: string[]; n: number };
    rings.push(...page.rings);
    if (rings.length >= page.n) return rings;
  }
}

const bytesOf = (text: string): Buffer => Buffer.from(text.split('.')[0] ?? '', 'base64url');

/** Expects that each ring has its number, and names the one before it. */
function expectWhole(chain: readonly string[]): void {
  let before = '';
  for (const [i, text] of chain.entries()) {
    const ring = JSON.parse(bytesOf(text).toString()) as Ring;
    expect({ n: ring.n, before: ring.prev_hash }).toEqual({ n: i + 1, before });
    before = createHash('sha256').update(bytesOf(text)).digest('base64url');
  }
}

async function start(): Promise<{
  devices: readonly TestDevice[];
  keys: Keyed[];
  first: MadeRing;
  account: { service: string; user: string };
}> {
  const devices = await site.enrol('One', 'Two', 'Three', 'Four');
  const keys = devices.map(keyed);
  const account = { service: SERVICE, user: devices[0].user };
  const by = keys[0] as Keyed;
  const first = makeRing(account, { by, members: keys });
  expect(await put(devices[0], first, site.one)).toBe(200);
  return { devices, keys, first, account };
}

// Proves G32.
test('of many that put the next ring at once, by both replicas, one is in force, and no other was told so', async () => {
  const { devices, keys, first, account } = await start();
  let before = first;
  for (let round = 0; round < 5; round++) {
    const wanted = Array.from({ length: 8 }, (_, i) => {
      const by = keys[i % keys.length] as Keyed;
      return makeRing(account, {
        by,
        members: keys,
        before,
        says: { older: Buffer.of(round, i).toString('base64url') },
      });
    });
    const statuses = await Promise.all(
      wanted.map((ring, i) => put(devices[i % 4] as TestDevice, ring, i % 2 ? site.one : site.two)),
    );
    expect(statuses.filter((status) => status === 409)).toHaveLength(7);
    before = wanted[statuses.indexOf(200)] as MadeRing;
    expect((await chainOf(devices[0] as TestDevice, site.two)).at(-1)).toBe(before.text);
  }
  expectWhole(await chainOf(devices[0] as TestDevice, site.one));
});

test('of many that make the first ring at once, one is in force', async () => {
  const devices = await site.enrol('One', 'Two', 'Three', 'Four');
  const made = devices.map((device) => {
    const own = keyed(device);
    return makeRing({ service: SERVICE, user: device.user }, { by: own, members: [own] });
  });
  const statuses = await Promise.all(
    devices.map((device, i) => put(device, made[i] as MadeRing, i % 2 ? site.one : site.two)),
  );
  expect(statuses.toSorted()).toEqual([200, 409, 409, 409]);
  expect(await chainOf(devices[0], site.one)).toEqual([(made[statuses.indexOf(200)] as MadeRing).text]);
});

// Proves G32.
test('a replica that is killed while rings are put loses none that was answered, and leaves no half', async () => {
  const { devices, keys, first, account } = await start();
  const doomed = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix, env: ENV });
  const answered: string[] = [];
  /** Puts ring after ring, as a client does. A put without an answer is repeated on another replica. */
  async function writer(device: TestDevice, by: Keyed, mark: number, replica: ReplicaProcess) {
    for (let made = 0; made < 6; ) {
      const last = (await chainOf(device, site.one)).at(-1) ?? first.text;
      const before = { text: last, n: 0, hash: '', ring: JSON.parse(bytesOf(last).toString()) as Ring };
      before.n = before.ring.n;
      before.hash = createHash('sha256').update(bytesOf(last)).digest('base64url');
      const next = makeRing(account, {
        by,
        members: keys,
        before,
        says: { older: Buffer.of(mark, made).toString('base64url') },
      });
      let status = await put(device, next, replica);
      if (status === 0) status = await put(device, next, site.two);
      if (status === 200) {
        answered.push(next.text);
        made += 1;
      }
      if (answered.length === 4) doomed.process.kill('SIGKILL');
    }
  }
  await Promise.all([
    writer(devices[0] as TestDevice, keys[0] as Keyed, 0, doomed),
    writer(devices[1] as TestDevice, keys[1] as Keyed, 1, doomed),
    writer(devices[2] as TestDevice, keys[2] as Keyed, 2, site.one),
  ]);
  const chain = await chainOf(devices[3] as TestDevice, site.two);
  expectWhole(chain);
  expect(new Set(chain).size).toBe(chain.length);
  for (const text of answered) expect(chain).toContain(text);
});
