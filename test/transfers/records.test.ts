import { ACCOUNT_BYTES, LIMITS } from '../../shared/contract/limits.ts';
import type { Transfer } from '../../shared/contract/modules/transfers.ts';
import { makeDevice, type TestDevice } from '../support/device.ts';
import { keysUnder } from '../support/redis/redis.ts';
import { type Site, startSite } from '../support/site.ts';
import { makeParties, offer, oneFile, type Parties } from './parties.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const key = ({ user }: { user: string }, rest: string) => `${site.prefix}:{${user}}:${rest}`;

/** This list is as long as the body of an offer may be. */
const longList = Array.from({ length: 1_000 }, (_, i) => ({
  name: `${`${i}`.padEnd(240, 'x')}/`.repeat(4),
  size: i,
})).map(({ name, size }) => ({ name: name.slice(0, -1), size }));
const manyFiles = Array.from({ length: 20 }, (_, i) => ({ name: `day ${i}/photo é${i}.jpg`, size: i + 1 }));

/** Resolves to the bytes that the store uses for the keys of the account, except those of its streams. */
async function bytesOf(parties: { user: string }): Promise<number> {
  const keys = await keysUnder(site.redis, site.prefix, `:{${parties.user}}:*`);
  const sizes = await Promise.all(keys.map((each) => site.redis.memory('USAGE', each, 'SAMPLES', 0)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

const cancel = (device: TestDevice, { transfer_id }: Pick<Transfer, 'transfer_id'>) =>
  device.on(site.two).call('cancelTransfer', { params: { transfer_id }, body: {} });

async function offerAndCancel(parties: Parties, times: number, files: object[] = oneFile): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < times; i++) {
    const transfer = await offer(parties, site.one, files);
    await cancel(parties.sender, transfer);
    ids.push(transfer.transfer_id);
  }
  return ids;
}

test('forty offers of a thousand long names, each cancelled, leave next to nothing in the store', async () => {
  const parties = await makeParties(site.one);

  await offerAndCancel(parties, 40, longList);

  expect(await keysUnder(site.redis, site.prefix, `:{${parties.user}}:transfer:*:files`)).toEqual([]);
  expect(await bytesOf(parties)).toBeLessThan(400_000);
  expect(Object.values(ACCOUNT_BYTES).every(Number.isInteger)).toBe(true);
});

// Proves G31.
test('the bytes of live lists are bounded, and a transfer that ends gives its share back', async () => {
  const parties = await makeParties(site.one);
  const live: Transfer[] = [];
  let refusal: unknown = null;
  while (refusal === null && live.length < 20) {
    await offer(parties, site.one, longList).then(
      (transfer) => live.push(transfer),
      (error: unknown) => {
        refusal = error;
      },
    );
  }

  expect(refusal).toMatchObject({ code: 'transfer_limit' });
  expect(await bytesOf(parties)).toBeLessThan(ACCOUNT_BYTES.transfers + ACCOUNT_BYTES.log);
  await cancel(parties.receiver, live[0] as Transfer);
  await expect(offer(parties, site.two, longList)).resolves.toMatchObject({ state: 'PENDING' });
});

test('a guest that offers as much as it may keeps nobody else from offering', async () => {
  const parties = await makeParties(site.one);
  const guest = makeDevice({ user: parties.user, name: 'Guest', scope: 'guest' });
  await guest.on(site.one).call('listDevices');
  const byGuest: Parties = { ...parties, sender: guest };
  for (let i = 0; i < LIMITS.liveTransfersOfGuests; i++) await offer(byGuest, site.one);

  await expect(offer(byGuest, site.two)).rejects.toMatchObject({ code: 'transfer_limit', status: 409 });
  await expect(offer(parties, site.two)).resolves.toMatchObject({ state: 'PENDING' });
});

test('the oldest ended records make room for new ones, and what is live stays', async () => {
  const parties = await makeParties(site.one);
  const live = await offer(parties, site.one);
  const ended = await offerAndCancel(parties, LIMITS.transferRecords + 5);

  const records = (await keysUnder(site.redis, site.prefix, `:{${parties.user}}:transfer:*`)).length;
  expect(records).toBeLessThanOrEqual(LIMITS.transferRecords);
  expect(records).toBeGreaterThan(LIMITS.transferRecords - 20);
  const get = (transfer_id: string) => parties.receiver.on(site.two).call('getTransfer', { params: { transfer_id } });
  await expect(get(ended[0] as string)).rejects.toMatchObject({ code: 'not_found' });
  await expect(get(ended.at(-1) as string)).resolves.toMatchObject({ body: { transfer: { state: 'CANCELLED' } } });
  await expect(get(live.transfer_id)).resolves.toMatchObject({ body: { transfer: { state: 'PENDING' } } });
  // One pending offer, and one place in the list of each party.
  expect(await site.redis.zcard(key(parties, 'offers'))).toBe(2 * records + 1);
  expect(await site.redis.zcard(key(parties, 'due'))).toBe(records);
}, 180_000);

// Proves G29.
test('what ended keeps a short list as it was, and of a long one the first names, cut', async () => {
  const parties = await makeParties(site.one);
  const [short, long] = [await offer(parties, site.one), await offer(parties, site.one, longList)];
  const wordy = await offer(parties, site.one, longList.slice(0, 16));
  for (const transfer of [short, long, wordy]) await cancel(parties.sender, transfer);
  const get = async ({ transfer_id }: Transfer) =>
    (await parties.receiver.on(site.two).call('getTransfer', { params: { transfer_id } })).body.transfer;

  expect((await get(short)).files).toEqual(short.files);
  for (const transfer of [long, wordy]) {
    const { files = [], file_count, total_bytes } = await get(transfer);
    expect({ file_count, total_bytes }).toEqual({
      file_count: transfer.file_count,
      total_bytes: transfer.total_bytes,
    });
    expect(files.map(({ index, name }) => [index, name])).toEqual(
      [0, 1, 2].map((i) => [i, longList[i]?.name.slice(0, LIMITS.endedNameBytes)]),
    );
  }
});

test.each([
  ['a name of 1,025 bytes', { files: [{ name: 'x/'.repeat(512) + 'y', size: 1 }] }],
  ['a type with a control character', { files: [{ name: 'x', size: 1, type: 'text/\u0001' }] }],
  ['a sealed text of control characters', { files: oneFile, sealed: '\u0001'.repeat(100) }],
])('%s is refused', async (_, body) => {
  const { sender } = await makeParties(site.one);

  await expect(sender.on(site.one).call('initTransfer', { body: { to: 'Receiver', ...body } })).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

// Proves G33.
test('512 KB that were sealed are read with the transfer alone, while it is live, and are then gone', async () => {
  const parties = await makeParties(site.one);
  const sealed = Buffer.alloc(LIMITS.sealedBytes, 7).toString('base64url');
  const onReceiver = site.listen(parties.receiver, site.two);
  await onReceiver.next('ready');
  const offered: string[] = [];
  for (let i = 0; i < 11; i++) {
    const { body } = await parties.sender.on(site.one).call('initTransfer', {
      body: { to: 'Receiver', files: oneFile, sealed },
    });
    expect(body.transfer.sealed).toBe('');
    expect((await onReceiver.next('transfer:incoming')).data).toMatchObject({ transfer: { sealed: '' } });
    offered.unshift(body.transfer.transfer_id);
  }
  // It counts towards what the account may keep.
  await expect(
    parties.sender.on(site.one).call('initTransfer', { body: { to: 'Receiver', files: oneFile, sealed } }),
  ).rejects.toMatchObject({ code: 'transfer_limit' });

  const { body } = await parties.receiver.on(site.two).call('listTransfers', { query: { limit: 100 } });
  expect(body.transfers.map((transfer) => [transfer.transfer_id, transfer.sealed])).toEqual(
    offered.map((id) => [id, '']),
  );
  const params = { transfer_id: offered[0] as string };
  const get = async () => (await parties.receiver.on(site.two).call('getTransfer', { params })).body.transfer;
  expect((await get()).sealed).toBe(sealed);
  const accepted = await parties.receiver.on(site.one).call('acceptTransfer', { params });
  expect(accepted.body.transfer.sealed).toBe('');
  expect((await get()).sealed).toBe(sealed);
  const storedAt = key(parties, `transfer:${params.transfer_id}:sealed`);
  expect(await site.redis.ttl(storedAt)).toBeGreaterThan(86_000);
  await parties.sender.on(site.two).call('cancelTransfer', { params, body: {} });
  expect((await get()).sealed).toBe('');
  expect(await site.redis.exists(storedAt)).toBe(0);
  await parties.sender.on(site.one).call('initTransfer', { body: { to: 'Receiver', files: oneFile, sealed } });
}, 120_000);

test.each([
  ['more than 512 KB', Buffer.alloc(LIMITS.sealedBytes + 1).toString('base64url'), 'body_too_large'],
  ['nothing', '', 'invalid_request'],
  ['another alphabet', 'a+b/', 'invalid_request'],
  ['padding', 'AAA=', 'invalid_request'],
  ['bits that are left over', 'AB', 'invalid_request'],
])('%s is not taken as sealed', async (_, sealed, code) => {
  const { sender } = await makeParties(site.one);
  const offering = sender.on(site.one).call('initTransfer', { body: { to: 'Receiver', files: oneFile, sealed } });
  await expect(offering).rejects.toMatchObject({ code });
});

test('a list by state looks at a bounded number of records, and its cursor goes on from an empty page', async () => {
  const parties = await makeParties(site.one);
  const wanted = await offer(parties, site.one);
  await offerAndCancel(parties, LIMITS.transferPageRecords);

  const { body: first } = await parties.sender.on(site.two).call('listTransfers', { query: { state: 'PENDING' } });
  const query = { state: 'PENDING' as const, cursor: first.next_cursor ?? '' };
  const { body: second } = await parties.sender.on(site.one).call('listTransfers', { query });

  expect(first.transfers).toEqual([]);
  expect(first.next_cursor).not.toBeNull();
  expect(second.transfers.map(({ transfer_id }) => transfer_id)).toEqual([wanted.transfer_id]);
  expect(second.next_cursor).toBeNull();
}, 120_000);

test('the first answer to a key is remembered without what was sealed, and a repetition has it all the same', async () => {
  const { sender, user } = await makeParties(site.one);
  const sealed = Buffer.from('secret '.repeat(2_000)).toString('base64url');
  const call = { body: { to: 'Receiver', files: manyFiles, sealed }, idempotencyKey: 'offer-1' };

  const { body: first } = await sender.on(site.one).call('initTransfer', call);
  const { body: second } = await sender.on(site.two).call('initTransfer', call);

  expect(second).toEqual(first);
  const params = { transfer_id: second.transfer.transfer_id };
  const { body: read } = await sender.on(site.two).call('getTransfer', { params });
  expect(read.transfer.sealed).toBe(sealed);
  const [remembered] = await keysUnder(site.redis, site.prefix, `:{${user}}:op:*:offer-1`);
  expect(await site.redis.strlen(remembered as string)).toBeLessThan(1_500);
});

// Proves G28.
test('events that are long leave the log before it is too long, and who was away is told', async () => {
  const parties = await makeParties(site.one);
  const before = site.listen(parties.receiver, site.one);
  await before.next('ready');
  await site.closeStreams();
  const { body } = await parties.sender.on(site.one).call('initTransfer', {
    body: { to: 'Receiver', files: longList.slice(0, 16) },
  });
  const params = { transfer_id: body.transfer.transfer_id };
  await parties.receiver.on(site.one).call('acceptTransfer', { params });
  for (let i = 0; i < 150; i++) {
    await parties.sender.on(site.two).call(i % 2 ? 'relayTransfer' : 'p2pTransfer', { params });
  }

  const entries = await site.redis.xrange(key(parties, 'log'), '-', '+');
  const bytes = entries.reduce((sum, [, fields]) => sum + (fields[7]?.length ?? 0), 0);
  expect(bytes).toBeLessThanOrEqual(LIMITS.logBytes);
  expect(bytes).toBeGreaterThan(LIMITS.logBytes / 2);
  const { data } = await site.listen(parties.receiver, site.two, before.stream.lastEventId ?? '').next('ready');
  expect(data).toMatchObject({ resumed: false });
});

test('a record of the version before, with its long list inside, is read, relayed and ended', async () => {
  const parties = await makeParties(site.one);
  const transfer = await offer(parties, site.one, manyFiles);
  const params = { transfer_id: transfer.transfer_id };
  const record = key(parties, `transfer:${transfer.transfer_id}`);
  const { body: whole } = await parties.sender.on(site.one).call('getTransfer', { params });
  await site.redis.hset(record, 'files', JSON.stringify(whole.transfer.files));
  await site.redis.hdel(record, 'slot');
  await site.redis.del(`${record}:files`);
  await site.redis.del(key(parties, 'transfers'));

  const { body: read } = await parties.receiver.on(site.two).call('getTransfer', { params });
  await parties.sender.on(site.one).call('relayTransfer', { params });
  const head = await fetch(`${site.two.url}/api/relay/${transfer.transfer_id}/7/0`, {
    method: 'HEAD',
    headers: parties.sender.headers,
  });
  await cancel(parties.receiver, transfer);
  const { body: ended } = await parties.sender.on(site.one).call('getTransfer', { params });

  expect(read.transfer.files).toEqual(manyFiles.map((file, index) => ({ index, ...file, type: null, sha256: null })));
  expect(head.headers.get('upload-length')).toBe('8');
  expect(ended.transfer).toMatchObject({ state: 'CANCELLED', file_count: 20 });
  expect(await site.redis.hget(record, 'files')).toBe('[]');
  await expect(offer(parties, site.one)).resolves.toMatchObject({ state: 'PENDING' });
});
