import { Revocations } from '../../../services/sync/sessions/revocation/revocations.ts';
import type { SessionStore, Tombstone } from '../../../services/sync/sessions/store.ts';

/* The signed-out devices, as one replica knows them, beside a store that may forget. */

const HOUR_MS = 3_600_000;
const NOW = 1_800_000_000_000;

function makeFakeStore() {
  let list: Tombstone[] = [];
  let version = '';
  let nowMs = NOW;
  let fails = false;
  const store = {
    async addTombstones(tombstones: Tombstone[]) {
      list = list.filter(({ atMs }) => atMs > nowMs - 24 * HOUR_MS);
      for (const tombstone of tombstones) {
        if (list.some(({ deviceId }) => deviceId === tombstone.deviceId)) continue;
        list.push({ ...tombstone, atMs: tombstone.atMs || nowMs });
      }
      version = `${nowMs}-${Math.random()}`;
      return { version, nowMs };
    },
    isTombstoned: async (_: string, deviceId: string, overMs: number) =>
      list.some((each) => each.deviceId === deviceId && each.atMs >= overMs),
    async tombstones(sinceMs: number, overMs: number) {
      if (fails) {
        fails = false;
        throw new Error('away');
      }
      const since = (ms: number) => list.filter(({ atMs }) => atMs >= ms);
      return { tombstones: since(Math.max(sinceMs, overMs)), count: since(overMs).length };
    },
    channelsOf: async () => [],
  } as unknown as SessionStore;
  return {
    store,
    version: () => version,
    devices: () => list.map(({ deviceId }) => deviceId).sort(),
    failOnce: () => void (fails = true),
    at: (ms: number) => void (nowMs = ms),
    now: () => nowMs,
    /** Goes back to an earlier state: a replica of the store that had not heard of the rest took over. */
    fallBack() {
      const was = { list: [...list], version };
      return () => void ([list, version] = [was.list, was.version]);
    },
    lose() {
      list = [];
      version = '';
    },
  };
}

function makeReplica(store: SessionStore, onFailure?: (task: string) => void, heard = 1) {
  const ended: string[] = [];
  const published: string[] = [];
  const repeated: string[] = [];
  const revocations = new Revocations({
    store,
    channels: () => ['one'],
    async publish(_channel, payload) {
      published.push(payload);
      if (heard < 0) throw new Error('away');
      return heard;
    },
    repeat: ({ channel, payload }, outcome) => repeated.push(`${channel} ${payload.split('\n')[0]} ${outcome}`),
    onRevoked: (_account, deviceId) => ended.push(String(deviceId)),
    onReplaced: (_account, deviceId) => ended.push(deviceId),
    onFailure(task, error) {
      if (onFailure === undefined) throw error;
      onFailure(task);
    },
  });
  return { revocations, ended, published, repeated };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const knows = ({ revocations }: ReturnType<typeof makeReplica>, ids: string[]): string[] =>
  ids.filter((id) => revocations.isRevoked('ann', id));

test('a replica that heard nothing learns with its lease, and ends the streams', async () => {
  const fake = makeFakeStore();
  const [one, two] = [makeReplica(fake.store), makeReplica(fake.store)];
  await one.revocations.revoke('ann', 'phone', 'revoked');
  two.revocations.note(fake.version(), fake.now());
  await settled();
  expect(two.ended).toEqual(['phone']);
  expect(knows(two, ['phone', 'laptop'])).toEqual(['phone']);
});

test('everything of the last day is written back to a store that lost it, not only the newest', async () => {
  const fake = makeFakeStore();
  const one = makeReplica(fake.store);
  for (const [device, agoMs] of [
    ['old', 5 * HOUR_MS],
    ['older', 20 * HOUR_MS],
    ['new', 0],
  ] as const) {
    fake.at(NOW - agoMs);
    await one.revocations.revoke('ann', device, 'revoked');
    one.revocations.note(fake.version(), fake.now());
    await settled();
  }
  fake.lose();
  one.revocations.note(fake.version(), fake.now());
  await settled();
  expect(fake.devices()).toEqual(['new', 'old', 'older']);
});

test('also when somebody was signed out between the loss and the next lease', async () => {
  const fake = makeFakeStore();
  const [one, fresh] = [makeReplica(fake.store), makeReplica(fake.store)];
  fake.at(NOW - 5 * HOUR_MS);
  await one.revocations.revoke('ann', 'old', 'revoked');
  one.revocations.note(fake.version(), fake.now());
  await settled();
  fake.lose();
  fake.at(NOW);
  await fresh.revocations.revoke('ann', 'new', 'revoked');
  one.revocations.note(fake.version(), fake.now());
  await settled();
  expect(fake.devices()).toEqual(['new', 'old']);
  fresh.revocations.note(fake.version(), fake.now());
  await settled();
  expect(knows(fresh, ['old', 'new'])).toEqual(['old', 'new']);
});

test('what was lost before any lease showed it is written back, under a version that has not changed', async () => {
  const fake = makeFakeStore();
  const [one, two] = [makeReplica(fake.store), makeReplica(fake.store)];
  await one.revocations.revoke('ann', 'old', 'revoked');
  for (const { revocations } of [one, two]) revocations.note(fake.version(), fake.now());
  await settled();
  for (const replica of [one, two]) {
    const fallBack = fake.fallBack();
    await one.revocations.revoke('ann', 'new', 'revoked');
    two.revocations.heard('ann', 'new', 'revoked', NOW);
    fallBack();
    replica.revocations.note(fake.version(), fake.now());
    await settled();
    expect(fake.devices()).toEqual(['new', 'old']);
    fallBack();
  }
});

test('a list that could not be read is read again under the same version', async () => {
  const fake = makeFakeStore();
  const failures: string[] = [];
  const one = makeReplica(fake.store, (task) => failures.push(task));
  await one.revocations.revoke('ann', 'old', 'revoked');
  one.revocations.note(fake.version(), fake.now());
  await settled();
  const fallBack = fake.fallBack();
  await one.revocations.revoke('ann', 'new', 'revoked');
  fallBack();
  fake.failOnce();
  one.revocations.note(fake.version(), fake.now());
  await settled();
  one.revocations.note(fake.version(), fake.now());
  await settled();
  expect(failures).toEqual(['read revocations']);
  expect(fake.devices()).toEqual(['new', 'old']);
});

test('an announcement before the first reading does not stand in for what is older', async () => {
  const fake = makeFakeStore();
  const [one, starting] = [makeReplica(fake.store), makeReplica(fake.store)];
  fake.at(NOW - 5 * HOUR_MS);
  await one.revocations.revoke('ann', 'old', 'revoked');
  starting.revocations.heard('ann', 'new', 'revoked', NOW);
  starting.revocations.note(fake.version(), fake.now());
  await settled();
  expect(knows(starting, ['old', 'new'])).toEqual(['old', 'new']);
});

test('the announcement carries the time of the store, so that a wrong clock hides nothing later', async () => {
  const fake = makeFakeStore();
  const [one, two] = [makeReplica(fake.store), makeReplica(fake.store)];
  await one.revocations.revoke('ann', 'first', 'logout');
  expect(one.published).toEqual([`r\nann\nfirst\nlogout\n${NOW}`]);
  two.revocations.note(fake.version(), fake.now());
  await settled();
  two.revocations.heard('ann', 'second', 'revoked', NOW + 1);
  fake.at(NOW + 2);
  await one.revocations.revoke('ann', 'third', 'revoked');
  two.revocations.note(fake.version(), fake.now());
  await settled();
  expect(knows(two, ['first', 'second', 'third'])).toEqual(['first', 'second', 'third']);
});

test('after a day it is forgotten, and not written back', async () => {
  const fake = makeFakeStore();
  const one = makeReplica(fake.store);
  fake.at(NOW - 25 * HOUR_MS);
  await one.revocations.revoke('ann', 'old', 'revoked');
  one.revocations.note(fake.version(), fake.now());
  await settled();
  fake.at(NOW);
  await one.revocations.revoke('ann', 'new', 'revoked');
  one.revocations.note(fake.version(), fake.now());
  await settled();
  expect(knows(one, ['old', 'new'])).toEqual(['new']);
  expect(fake.devices()).toEqual(['new']);
});

test('also when nobody else is signed out, and a store that lost it meanwhile is left as it is', async () => {
  const fake = makeFakeStore();
  const both = [makeReplica(fake.store), makeReplica(fake.store)] as const;
  await both[0].revocations.revoke('ann', 'old', 'revoked');
  const beat = async () => {
    for (const { revocations } of both) {
      revocations.note(fake.version(), fake.now());
      await settled();
    }
  };
  await beat();
  fake.at(NOW + 25 * HOUR_MS);
  await beat();
  for (const replica of both) expect(knows(replica, ['old'])).toEqual([]);
  expect(fake.devices()).toEqual(['old']);
  expect(await both[1].revocations.isTombstoned('ann', 'old')).toBe(false);

  fake.lose();
  await beat();
  const { version } = await fake.store.addTombstones([]);
  await beat();
  expect(fake.version()).toBe(version);
});

test('who comes back after a day, and is signed out again, is signed out on every replica', async () => {
  const fake = makeFakeStore();
  const [one, two] = [makeReplica(fake.store), makeReplica(fake.store)] as const;
  for (const atMs of [NOW, NOW + 25 * HOUR_MS]) {
    fake.at(atMs);
    await one.revocations.revoke('ann', 'phone', 'revoked');
    for (const { revocations } of [one, two]) {
      revocations.note(fake.version(), fake.now());
      await settled();
    }
  }
  expect(two.ended).toEqual(['phone', 'phone']);
  for (const replica of [one, two]) expect(knows(replica, ['phone'])).toEqual(['phone']);
  expect(fake.devices()).toEqual(['phone']);
});

test('an ended session that may be renewed ends its streams and leaves no tombstone', () => {
  const one = makeReplica(makeFakeStore().store);
  one.revocations.heard('ann', 'phone', 'expired', 0);
  expect(one.ended).toEqual(['phone']);
  expect(knows(one, ['phone'])).toEqual([]);
});

test.each([
  [1, []],
  [0, ['unheard']],
  [-1, ['failed']],
])(
  'what only an announcement tells is announced again if %d replicas heard it, but no expiry',
  async (heard, outcomes) => {
    const { revocations, repeated } = makeReplica(makeFakeStore().store, () => undefined, heard);
    await revocations.tell('ann', 'phone', 'expired');
    expect(repeated).toEqual([]);
    await revocations.tellReplaced('ann', 'phone', true);
    await revocations.tellSession('ann', 'session', 'logout');
    await revocations.revoke('ann', 'phone', 'revoked');

    expect(repeated).toEqual(['m', 'r', 'r'].flatMap((word) => outcomes.map((outcome) => `one ${word} ${outcome}`)));
  },
);
