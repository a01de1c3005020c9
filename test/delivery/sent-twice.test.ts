import { randomUUID } from 'node:crypto';
import { LIMITS } from '../../shared/contract/limits.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { connectTo } from '../support/redis/redis.ts';
import { startTcpProxy, type TcpProxy } from '../support/redis/tcp-proxy.ts';
import { type ReplicaProcess, startReplica, stopReplicas, untilBeat } from '../support/replicas.ts';
import { request } from '../support/wire.ts';

/*
 * The store carries out a command, and the connection ends before the answer has come. The client library sends the
 * command again over the next connection. It must not take effect twice, and the answer must be that of the first time.
 */

let redis: OwnRedis;
let proxy: TcpProxy;
let direct: ReplicaProcess;
let behindProxy: ReplicaProcess;
let toRedis: ReturnType<typeof connectTo>;

let laptop: TestDevice;
let phone: TestDevice;
let onLaptop: ReturnType<TestDevice['listen']>;
let onPhone: ReturnType<TestDevice['listen']>;

beforeAll(async () => {
  redis = await startOwnRedis();
  proxy = await startTcpProxy(redis.url);
  toRedis = connectTo(redis.url);
  [direct, behindProxy] = (await Promise.all(
    [redis.url, proxy.url].map((redisUrl) => startReplica({ redisUrl, keyPrefix: 'baton' })),
  )) as [ReplicaProcess, ReplicaProcess];
});

beforeEach(async () => {
  const user = randomUser();
  [laptop, phone] = [makeDevice({ user, name: 'Laptop' }), makeDevice({ user, name: 'Phone' })];
  [onLaptop, onPhone] = [laptop.listen(direct), phone.listen(direct)];
  await Promise.all([onLaptop.next('ready'), onPhone.next('ready')]);
});

afterEach(() => Promise.all([onLaptop.stop(), onPhone.stop()]));

afterAll(async () => {
  await stopReplicas();
  toRedis.disconnect();
  await proxy.stop();
  await redis.stop();
});

/** Returns the replica behind the proxy. The answer to its next request that holds `marker` gets lost. */
async function cutting(marker: string): Promise<ReplicaProcess> {
  await untilBeat(behindProxy, toRedis, 'baton');
  void proxy.cutBeforeAnswerTo(marker);
  return behindProxy;
}

/** Returns how many events of a kind a stream has had, once everything before has arrived. */
async function countOf(stream: ReturnType<TestDevice['listen']>, name: string): Promise<number> {
  const content = `marker ${randomUUID()}`;
  await laptop.on(direct).call('sendMessage', { body: { to: '*', content } });
  await phone.on(direct).call('sendMessage', { body: { to: '*', content } });
  await stream.next('message', ({ data }) => data.content === content);
  return stream.events.filter((event) => event.name === name && !JSON.stringify(event.data).includes(content)).length;
}

const noRetry = { retries: 0 } as const;

/** Returns the body of a 201. The request has no key; the client would have made one. */
async function posted<T>(replica: ReplicaProcess, path: string, body: unknown): Promise<T> {
  const answer = await request(replica, { method: 'POST', path, body, headers: laptop.headers });
  expect(answer.status).toBe(201);
  return answer.body as T;
}

interface Accepted {
  message_id: string;
  created_at: number;
  to: { name: string; error?: string }[];
}

const sentCut = async (content: string): Promise<Accepted> =>
  posted(await cutting(content), '/api/message', { to: '*', content });

// Proves G10.
test('a message to all, and its answer', async () => {
  const content = randomUUID();
  const sent = await sentCut(content);
  const { messages } = (await phone.on(direct).call('listMessages')).body;
  expect(messages).toHaveLength(1);
  expect(sent).toMatchObject({
    message_id: messages[0]?.message_id,
    created_at: messages[0]?.created_at,
    to: [{ device_id: phone.id, name: 'Phone', online: true, pushed: false }],
  });
  expect(await countOf(onPhone, 'message')).toBe(1);
});

test('a message of which one of two mailboxes is full', async () => {
  const tablet = makeDevice({ user: laptop.user, name: 'Tablet' });
  const onTablet = tablet.listen(direct);
  await onTablet.next('ready');
  const inbox = `baton:{${laptop.user}}:inbox`;
  // The messages are new, because expired ones are removed once a minute, and that may begin now.
  const now = Date.now();
  const members = Array.from({ length: LIMITS.mailboxMessages }, (_, i) => [
    '0',
    `${tablet.id}:${now}-${i}:${i}`,
  ]).flat();
  await toRedis.zadd(inbox, ...(members as [string, string]));
  await toRedis.hset(`baton:{${laptop.user}}:mail`, 'bytes', '1', 'purged', '0');
  const content = randomUUID();
  const { to } = await sentCut(content);
  expect(Object.fromEntries(to.map(({ name, error }) => [name, error]))).toEqual({
    Phone: undefined,
    Tablet: 'mailbox_full',
  });
  expect((await phone.on(direct).call('listMessages')).body.messages).toHaveLength(1);
  await onTablet.stop();
});

test('a message with a key, which is kept as well', async () => {
  const content = randomUUID();
  const given = { body: { to: 'Phone', content }, idempotencyKey: content, ...noRetry };
  const first = await laptop.on(await cutting(content)).call('sendMessage', given);
  expect((await laptop.on(direct).call('sendMessage', given)).body).toEqual(first.body);
  expect(await countOf(onPhone, 'message')).toBe(1);
});

test('an acknowledgement, and how many it was of', async () => {
  const send = () => laptop.on(direct).call('sendMessage', { body: { to: 'Phone', content: 'read' } });
  const ids = [(await send()).body.message_id, (await send()).body.message_id];
  const again = await phone
    .on(await cutting(ids[0] as string))
    .call('ackMessages', { body: { message_ids: ids }, ...noRetry });
  expect(again.body).toEqual({ acked: 2 });
  expect(await countOf(onLaptop, 'message:delivered')).toBe(1);
});

test('a signal', async () => {
  const payload = randomUUID();
  const body = { to: 'Phone', kind: 'offer' as const, payload };
  const sent = await laptop.on(await cutting(payload)).call('sendSignal', { body, ...noRetry });
  expect(sent.body).toEqual({ delivered: true });
  expect(await countOf(onPhone, 'signal')).toBe(1);
});

test('the clipboard, which somebody else may have replaced meanwhile', async () => {
  const content = randomUUID();
  const body = { content, content_type: 'text/plain' as const };
  const set = await laptop.on(await cutting(content)).call('setClipboard', { body, ...noRetry });
  const { body: found } = await phone.on(direct).call('getClipboard');
  expect(set.body).toMatchObject({ updated_at: found.updated_at, expires_at: found.expires_at });
  expect(await countOf(onPhone, 'clipboard')).toBe(1);
});

test('a new name', async () => {
  const name = `Laptop ${randomUUID()}`.slice(0, 32);
  const renamed = await laptop
    .on(await cutting(name))
    .call('renameDevice', { params: { device_id: laptop.id }, body: { name }, ...noRetry });
  expect(renamed.body.device).toMatchObject({ device_id: laptop.id, name });
  expect(await countOf(onPhone, 'device:renamed')).toBe(1);
});

test('an offer', async () => {
  const name = `${randomUUID()}.bin`;
  const body = { to: 'Phone', files: [{ name, size: 1 }] };
  const offered = await posted<{ transfer: { transfer_id: string } }>(await cutting(name), '/api/transfer/init', body);
  const { transfers } = (await phone.on(direct).call('listTransfers')).body;
  expect(transfers.map(({ transfer_id }) => transfer_id)).toEqual([offered.transfer.transfer_id]);
  expect(await countOf(onPhone, 'transfer:incoming')).toBe(1);
});

test('a step of a transfer, which the other side ends before it is sent again', async () => {
  const body = { to: 'Phone', files: [{ name: 'ended.bin', size: 1 }] };
  const { transfer } = await posted<{ transfer: { transfer_id: string } }>(direct, '/api/transfer/init', body);
  const params = { transfer_id: transfer.transfer_id };
  await untilBeat(behindProxy, toRedis, 'baton');
  const cut = proxy.cutBeforeAnswerTo(params.transfer_id);
  const accepting = phone.on(behindProxy).call('acceptTransfer', { params, ...noRetry });
  await cut;
  // The next connection does not become ready before the transfer has ended.
  const { release } = proxy.hold('');
  await laptop.on(direct).call('cancelTransfer', { params, body: {} });
  release();
  expect((await accepting).body.transfer.state).toBe('CANCELLED');
  expect(await countOf(onLaptop, 'transfer:updated')).toBe(2);
});
