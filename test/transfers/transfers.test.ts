import { connectTo, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { endTimeOf } from './expiry.ts';
import { makeParties, offer, oneFile } from './parties.ts';

const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
let one: ReplicaProcess;
let two: ReplicaProcess;

beforeAll(async () => {
  [one, two] = await Promise.all([startReplica(options), startReplica(options)]);
});
afterAll(stopReplicas);

test('a receiver that is connected is announced the transfer at once, and the sender is told that it is online', async () => {
  const parties = await makeParties(one);
  const onReceiver = parties.receiver.listen(two);
  await onReceiver.next('ready');

  const { status, body } = await parties.sender.on(one).call('initTransfer', {
    body: { to_device_id: parties.receiver.id, files: oneFile, sealed: 'b3BhcXVl' },
  });
  const { data, id } = await onReceiver.next('transfer:incoming');

  expect(status).toBe(201);
  expect(body.receiver_online).toBe(true);
  expect(body.transfer).toMatchObject({
    state: 'PENDING',
    mode: 'p2p',
    phase: 'initializing',
    sender: { device_id: parties.sender.id, name: 'Sender' },
    receiver: { device_id: parties.receiver.id, name: 'Receiver' },
    files: [{ index: 0, name: 'notes.txt', size: 12, type: null, sha256: null }],
    file_count: 1,
    total_bytes: 12,
    // It is withheld here, and read below.
    sealed: '',
    progress: { sent_bytes: 0, received_bytes: 0 },
    error: null,
  });
  expect(body.transfer.expires_at - body.transfer.updated_at).toBe(86_400_000);
  expect(data).toEqual({ transfer: body.transfer, redelivered: false });
  expect(id).toMatch(/^\d+-\d+$/);
  const params = { transfer_id: body.transfer.transfer_id };
  const { body: read } = await parties.receiver.on(two).call('getTransfer', { params });
  expect(read.transfer.sealed).toBe('b3BhcXVl');
  await onReceiver.stop();
});

test('a file has the date that its sender gave, and none that is no date', async () => {
  const { sender, receiver } = await makeParties(one);
  const [file] = oneFile as [(typeof oneFile)[number]];
  const offerDated = (modified_at: unknown) =>
    sender.on(one).call('initTransfer', { body: { to: 'Receiver', files: [{ ...file, modified_at } as never] } });
  const onReceiver = receiver.listen(two);
  await onReceiver.next('ready');
  const latest = 8_640_000_000_000_000;
  for (const date of [0, 1_304_665_689_000, latest]) {
    const { body } = await offerDated(date);
    expect(body.transfer.files).toMatchObject([{ modified_at: date }]);
    const { data } = await onReceiver.next('transfer:incoming');
    expect(data.transfer.files).toEqual(body.transfer.files);
  }
  for (const wrong of [-1, 1.5, latest + 2, 1e300, '1', null]) {
    await expect(offerDated(wrong)).rejects.toMatchObject({ code: 'invalid_request' });
  }
  await onReceiver.stop();
});

test('an absent receiver is announced the transfer when it appears, again after a reload, and no more once it accepted', async () => {
  const parties = await makeParties(one);
  const { body } = await parties.sender.on(one).call('initTransfer', { body: { to: 'Receiver', files: oneFile } });
  const onSender = parties.sender.listen(one);
  await onSender.next('ready');

  const first = parties.receiver.listen(two);
  const { data: ready } = await first.next('ready');
  const { data: announced, id } = await first.next('transfer:incoming');
  await onSender.next('presence', ({ data }) => data.devices.some((d) => d.name === 'Receiver' && d.online));
  await first.stop();
  const reloaded = parties.receiver.listen(one);
  const { data: again } = await reloaded.next('transfer:incoming');
  await onSender.next('presence', ({ data }) => data.devices.some((d) => d.name === 'Receiver' && d.online));
  await parties.receiver.on(two).call('acceptTransfer', { params: { transfer_id: body.transfer.transfer_id } });
  await reloaded.stop();
  const accepted = parties.receiver.listen(two);
  await accepted.next('ready');
  await parties.third.on(one).call('sendMessage', { body: { to: 'Receiver', content: 'after' } });
  await accepted.next('message');

  expect(body.receiver_online).toBe(false);
  expect(ready.pending).toEqual({ messages: 0, transfers: 1 });
  expect(announced).toEqual({ transfer: body.transfer, redelivered: true });
  expect(id).toBeNull();
  expect(again).toEqual(announced);
  expect(accepted.events.map(({ name }) => name)).not.toContain('transfer:incoming');
  await Promise.all([accepted.stop(), onSender.stop()]);
});

test('a missed announcement comes by the log, and is not repeated beside it', async () => {
  const parties = await makeParties(one);
  const first = parties.receiver.listen(two);
  await first.next('ready');
  await first.stop();
  const transfer = await offer(parties, one);

  const back = parties.receiver.listen(one, first.stream.lastEventId ?? '');
  const { data, id } = await back.next('transfer:incoming');
  await parties.third.on(one).call('sendMessage', { body: { to: 'Receiver', content: 'after' } });
  await back.next('message');

  expect(data).toEqual({ transfer, redelivered: false });
  expect(id).not.toBeNull();
  expect(back.events.filter(({ name }) => name === 'transfer:incoming')).toHaveLength(1);
  await back.stop();
});

test('a transfer that waited longer than the redelivery window is not announced again', async () => {
  const replica = await startReplica({ ...options, env: { APP_TRANSFER_REDELIVERY_SECONDS: '1' } });
  const parties = await makeParties(replica);
  const transfer = await offer(parties, replica);
  const onSender = parties.sender.listen(replica);
  await onSender.next('ready');
  // The window ends by the store's clock, and a later event proves that it is over.
  while (Date.now() < transfer.created_at + 1_200) await parties.sender.on(replica).call('getPresence');

  const late = parties.receiver.listen(replica);
  await late.next('ready');
  await parties.third.on(replica).call('sendMessage', { body: { to: 'Receiver', content: 'after' } });
  await late.next('message');

  expect(late.events.map(({ name }) => name)).not.toContain('transfer:incoming');
  await Promise.all([late.stop(), onSender.stop()]);
});

test('both parties are told of each transition by the same record, and nobody else is', async () => {
  const parties = await makeParties(one);
  const { transfer_id } = await offer(parties, one);
  const streams = [parties.sender.listen(one), parties.receiver.listen(two), parties.third.listen(one)] as const;
  await Promise.all(streams.map((stream) => stream.next('ready')));
  const [onSender, onReceiver, onThird] = streams;

  for (const [call, state] of [
    ['acceptTransfer', 'ACCEPTED'],
    ['p2pTransfer', 'P2P_ACTIVE'],
    ['completeTransfer', 'DONE'],
  ] as const) {
    const { body } = await parties.receiver.on(two).call(call, { params: { transfer_id } });
    const [{ data: seenBySender }, { data: seenByReceiver }] = await Promise.all([
      onSender.next('transfer:updated'),
      onReceiver.next('transfer:updated'),
    ]);
    expect(body.transfer.state).toBe(state);
    expect(seenBySender).toEqual({ transfer: body.transfer });
    expect(seenByReceiver).toEqual(seenBySender);
  }

  await parties.sender.on(one).call('sendMessage', { body: { to: 'Third', content: 'after' } });
  await onThird.next('message');
  expect(onThird.events.map(({ name }) => name)).not.toContain('transfer:updated');
  await Promise.all(streams.map((stream) => stream.stop()));
});

test('when no peer connection opens the sender goes by the relay, and each party is given its side of it', async () => {
  const parties = await makeParties(one);
  const { transfer_id } = await offer(parties, one);
  const params = { transfer_id };

  const { body: opened } = await parties.sender.on(one).call('relayTransfer', { params });
  const { body: accepted } = await parties.receiver.on(two).call('acceptTransfer', { params });
  const { body: seen } = await parties.sender.on(two).call('getTransfer', { params });

  const url = `/api/relay/${transfer_id}/0/0`;
  expect(opened.transfer).toMatchObject({ state: 'PENDING', mode: 'relay' });
  expect(opened.transfer.uploads).toEqual([{ index: 0, upload_url: url, offset: 0 }]);
  expect(accepted.transfer).toMatchObject({ state: 'RELAY_ACTIVE', downloads: [{ index: 0, download_url: url }] });
  expect(accepted.transfer.uploads).toBeUndefined();
  expect(seen.transfer).toMatchObject({ state: 'RELAY_ACTIVE', uploads: [{ index: 0, upload_url: url, offset: 0 }] });
  expect(seen.transfer.downloads).toBeUndefined();
});

test('an offline receiver ends the transfer as FAILED peer_offline, by the sender’s call', async () => {
  const parties = await makeParties(one);
  const { transfer_id } = await offer(parties, one);

  const { body } = await parties.sender.on(one).call('failTransfer', {
    params: { transfer_id },
    body: { phase: 'peer_offline' },
  });

  expect(body.transfer).toMatchObject({
    state: 'FAILED',
    phase: 'peer_offline',
    error: { code: 'peer_offline', detail: null },
  });
});

test.each([
  ['rejectTransfer', undefined, 'CANCELLED', 'rejected'],
  ['cancelTransfer', {}, 'CANCELLED', 'cancelled'],
  ['cancelTransfer', undefined, 'CANCELLED', 'cancelled'],
  ['cancelTransfer', { reason: 'changed my mind' }, 'CANCELLED', 'changed my mind'],
  ['failTransfer', {}, 'FAILED', 'failed'],
  ['failTransfer', undefined, 'FAILED', 'failed'],
] as const)('%s %j ends in %s with the error %s', async (call, body, state, code) => {
  const parties = await makeParties(one);
  const { transfer_id } = await offer(parties, one);
  const given = { params: { transfer_id }, ...(body && { body }) };

  const { body: answer } = await parties.receiver.on(two).call(call, given);

  expect((answer as { transfer: object }).transfer).toMatchObject({ state, error: { code, detail: null } });
});

test.each(['rejectTransfer', 'cancelTransfer', 'failTransfer'] as const)(
  'after %s it is announced to nobody who comes later',
  async (call) => {
    const parties = await makeParties(one);
    const { transfer_id } = await offer(parties, one);
    await parties.receiver.on(two).call(call, { params: { transfer_id } });
    const late = parties.receiver.listen(two);
    const { data: ready } = await late.next('ready');
    await parties.third.on(one).call('sendMessage', { body: { to: 'Receiver', content: 'after' } });
    await late.next('message');
    await late.stop();

    expect(ready.pending.transfers).toBe(0);
    expect(late.events.map(({ name }) => name)).not.toContain('transfer:incoming');
  },
);

test('an offer outlives the replica that took it', async () => {
  const parties = await makeParties(one);
  const doomed = await startReplica(options);
  const { transfer_id } = await offer(parties, doomed);
  await doomed.kill();
  const onReceiver = parties.receiver.listen(two);
  const { data } = await onReceiver.next('transfer:incoming');
  await onReceiver.stop();

  expect(data).toMatchObject({ redelivered: true, transfer: { transfer_id, state: 'PENDING' } });
});

test('the third device is no party, and another account finds nothing', async () => {
  const parties = await makeParties(one);
  const stranger = makeDevice({ user: randomUser() });
  const { transfer_id } = await offer(parties, one);
  const params = { transfer_id };

  await expect(parties.third.on(one).call('getTransfer', { params })).rejects.toMatchObject({ code: 'not_a_party' });
  await expect(parties.third.on(one).call('acceptTransfer', { params })).rejects.toMatchObject({ code: 'not_a_party' });
  await expect(parties.sender.on(one).call('acceptTransfer', { params })).rejects.toMatchObject({
    code: 'not_a_party',
  });
  await expect(stranger.on(one).call('getTransfer', { params })).rejects.toMatchObject({ code: 'not_found' });
  await expect(stranger.on(one).call('cancelTransfer', { params, body: {} })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('phases are forwarded at most four times a second, the newest wins, and none has a place in the log', async () => {
  const parties = await makeParties(one);
  const { transfer_id } = await offer(parties, one, [{ name: 'notes.txt', size: 60 }]);
  const params = { transfer_id };
  await parties.receiver.on(two).call('p2pTransfer', { params });
  const onReceiver = parties.receiver.listen(two);
  await onReceiver.next('ready');

  const startedAt = performance.now();
  const tell = (sent: number) => {
    const body = { phase: 'transferring' as const, progress: { sent_bytes: sent } };
    return parties.sender.on(sent % 2 ? one : two).call('phaseTransfer', { params, body });
  };
  // Those that are sent together fall into one millisecond of the store.
  for (let sent = 1; sent <= 50; sent += 10) await Promise.all(Array.from({ length: 10 }, (_, i) => tell(sent + i)));
  for (let sent = 51; sent <= 60; sent++) await tell(sent);
  const { at } = await onReceiver.next('transfer:updated', ({ data }) => data.transfer.progress.sent_bytes === 60);

  const forwarded = onReceiver.events.filter(({ name }) => name === 'transfer:updated');
  expect(forwarded.length).toBeLessThanOrEqual(Math.floor((at - startedAt + 5) / 250) + 1);
  expect(forwarded.every(({ id }) => id === null)).toBe(true);
  await onReceiver.stop();
});

test('a thousand files pass, and events and lists stay small', async () => {
  const parties = await makeParties(one);
  const onReceiver = parties.receiver.listen(two);
  await onReceiver.next('ready');
  const files = Array.from({ length: 1_000 }, (_, i) => ({ name: `holiday/day ${i % 10}/photo ${i}.jpg`, size: i }));

  const transfer = await offer(parties, one, files);
  const { data } = await onReceiver.next('transfer:incoming');
  const { body: listed } = await parties.receiver.on(two).call('listTransfers');
  const { body: whole } = await parties.receiver.on(two).call('getTransfer', {
    params: { transfer_id: transfer.transfer_id },
  });

  expect(data.transfer).toMatchObject({ file_count: 1_000, total_bytes: 499_500 });
  expect(data.transfer.files).toBeUndefined();
  expect(JSON.stringify(data).length).toBeLessThan(2_000);
  expect(listed.transfers.map(({ files: named, file_count }) => [named, file_count])).toEqual([[undefined, 1_000]]);
  expect(whole.transfer.files).toEqual(files.map((file, index) => ({ index, ...file, type: null, sha256: null })));
  await onReceiver.stop();
});

test.each([
  'a/../b',
  '../up',
  '/root',
  'a//b',
  'a/',
  '.',
  'back\\slash',
  'nul\u0000',
  'line\nend',
  'bidi\u202Etxt.exe',
  'x'.repeat(256),
  `${'é'.repeat(128)}`,
  '',
  '\ud800',
])('the file name %j is refused and nothing is offered', async (name) => {
  const parties = await makeParties(one);

  await expect(offer(parties, one, [{ name, size: 1 }])).rejects.toMatchObject({ code: 'invalid_request' });

  const { body } = await parties.sender.on(one).call('listTransfers');
  expect(body.transfers).toEqual([]);
});

test.each([
  ['a size over 2^53-1', [{ name: 'a', size: 2 ** 53 }]],
  [
    'sizes that overflow together',
    [
      { name: 'a', size: 2 ** 53 - 1 },
      { name: 'b', size: 1 },
    ],
  ],
  ['a negative size', [{ name: 'a', size: -1 }]],
  ['a fraction', [{ name: 'a', size: 0.5 }]],
  ['no file', []],
  ['1,001 files', Array.from({ length: 1_001 }, (_, i) => ({ name: `${i}`, size: 0 }))],
])('%s is refused', async (_, files) => {
  const parties = await makeParties(one);

  await expect(offer(parties, one, files)).rejects.toMatchObject({ code: 'invalid_request' });
});

test('an offer to oneself is refused, and one to nobody finds nothing', async () => {
  const { sender } = await makeParties(one);
  const offerTo = (to: string) => sender.on(one).call('initTransfer', { body: { to, files: oneFile } });

  await expect(offerTo('Sender')).rejects.toMatchObject({
    ...{ code: 'invalid_request', extras: { errors: [{ path: '/body/to', message: 'is the device itself' }] } },
  });
  await expect(offerTo('Nobody')).rejects.toMatchObject({ code: 'not_found' });
});

// Proves G9.
test('the same key offers once, on whichever replica it is repeated', async () => {
  const { sender } = await makeParties(one);
  const call = { body: { to: 'Receiver', files: oneFile }, idempotencyKey: 'offer-1' };

  const { body: first } = await sender.on(one).call('initTransfer', call);
  const { body: second } = await sender.on(two).call('initTransfer', call);
  const { body: listed } = await sender.on(two).call('listTransfers');

  expect(second).toEqual(first);
  expect(listed.transfers).toHaveLength(1);
});

test('the list is newest first, by state, page by page', async () => {
  const parties = await makeParties(one);
  const offered: string[] = [];
  for (let i = 0; i < 5; i++) offered.unshift((await offer(parties, one)).transfer_id);
  await parties.receiver.on(two).call('rejectTransfer', { params: { transfer_id: offered[2] as string } });

  const pages: string[][] = [];
  let cursor: string | null | undefined;
  do {
    const query = { limit: 2, state: 'PENDING' as const, ...(cursor && { cursor }) };
    const { body } = await parties.receiver.on(two).call('listTransfers', { query });
    pages.push(body.transfers.map(({ transfer_id }) => transfer_id));
    cursor = body.next_cursor;
  } while (cursor);
  const { body: cancelled } = await parties.sender.on(one).call('listTransfers', { query: { state: 'CANCELLED' } });

  expect(pages.flat()).toEqual(offered.filter((_, i) => i !== 2));
  expect(pages[0]).toHaveLength(2);
  expect(cancelled.transfers.map(({ transfer_id }) => transfer_id)).toEqual([offered[2]]);
});

test('the hundred-and-first live transfer is refused, and one that ended makes room', async () => {
  const parties = await makeParties(one);
  const ids = await Promise.all(Array.from({ length: 100 }, async () => (await offer(parties, one)).transfer_id));

  await expect(offer(parties, two)).rejects.toMatchObject({ code: 'transfer_limit' });
  await parties.sender.on(one).call('cancelTransfer', { params: { transfer_id: ids[0] as string }, body: {} });
  await expect(offer(parties, two)).resolves.toMatchObject({ state: 'PENDING' });
});

// Proves G29.
test('a transfer whose time is over is gone, and both parties are told that it failed', async () => {
  const parties = await makeParties(one);
  const { transfer_id } = await offer(parties, one);
  const streams = [parties.sender.listen(one), parties.receiver.listen(two)] as const;
  await Promise.all(streams.map((stream) => stream.next('ready')));
  const redis = connectTo(options.redisUrl);
  await endTimeOf(transfer_id, parties.user, options.keyPrefix, (command, ...args) => redis.call(command, ...args));
  const told = await Promise.all(streams.map((stream) => stream.next('transfer:updated')));
  await redis.quit();

  for (const { data } of told) {
    expect(data.transfer).toMatchObject({ transfer_id, state: 'FAILED', error: { code: 'expired' } });
  }
  await expect(parties.sender.on(two).call('getTransfer', { params: { transfer_id } })).rejects.toMatchObject({
    code: 'not_found',
  });
  for (const device of [parties.sender, parties.receiver]) {
    expect((await device.on(one).call('listTransfers')).body.transfers).toEqual([]);
  }
  const again = parties.receiver.listen(one);
  const { data: ready } = await again.next('ready');
  expect(ready.pending.transfers).toBe(0);
  await Promise.all([...streams, again].map((stream) => stream.stop()));
});

test('a transfer whose record expired before anybody came by leaves no place behind', async () => {
  const parties = await makeParties(one);
  const { transfer_id } = await offer(parties, one);
  const redis = connectTo(options.redisUrl);
  const account = `${options.keyPrefix}:{${parties.user}}`;
  const places = async () =>
    (await redis.zrange(`${account}:offers`, '0', '-1')).filter((p) => p.endsWith(transfer_id));
  expect(await places()).toHaveLength(3);
  await redis.del(`${account}:transfer:${transfer_id}`);
  await endTimeOf(transfer_id, parties.user, options.keyPrefix, (command, ...args) => redis.call(command, ...args));
  await until(places, (left) => left.length === 0, 'its places to be gone');
  await redis.quit();

  const stream = parties.receiver.listen(two);
  expect((await stream.next('ready')).data.pending.transfers).toBe(0);
  await stream.stop();
});
