import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Redis } from 'ioredis';
import { type BrokerProcess, startBroker, stopBrokers, TOKEN } from '../broker/support/brokers.ts';
import { sha256 } from '../relay/support/curl.ts';
import { append, read, until } from '../relay/support/asking.ts';
import { makeFolder, MIB, relayFiles, someBytes, writeFile } from '../relay/support/relayed.ts';
import { keepReceiving, keepSending } from '../relay/support/resuming.ts';
import { approval, ask, poll } from '../signin/parties.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { makeTestCertificate } from '../support/fake-push/certificate.ts';
import { type FakePushService, startFakePushService } from '../support/fake-push/push-service.ts';
import { keyed, makeRing, signed, signParts } from '../support/sealed/keyring.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis/redis-cluster.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { expectProblem, request } from '../support/wire.ts';
import { LIMITS } from '../../shared/contract/limits.ts';
import { endTimeOf } from '../transfers/expiry.ts';
import { makeParties, offer } from '../transfers/parties.ts';
import { CLIPBOARD_ENV, describeMainJob, type Replicas } from './main-job.ts';

const ACL = new URL('../../deploy/redis/users.acl', import.meta.url);
const SERVICE = new URL('../../services/sync/', import.meta.url);
const PASSWORD = 'only-for-this-test';
const SERVICE_ID = 'https://baton.example';

let cluster: RedisCluster;
let broker: BrokerProcess;
let pushes: FakePushService;
const certificate = makeTestCertificate();
const folder = makeFolder();
let replicas: Replicas;
const logs: (() => string)[] = [];

async function start(env: Record<string, string> = {}) {
  const replica = await startReplica({
    redisUrl: cluster.url.replace('redis://', `redis://baton:${PASSWORD}@`).replaceAll(',redis://', ','),
    // The user's keys have this prefix.
    keyPrefix: 'baton',
    env: {
      ...{ ...CLIPBOARD_ENV, APP_REDIS_MODE: 'cluster', APP_BROKER_URL: broker.url, APP_BROKER_TOKEN: TOKEN },
      ...{ APP_SERVICE_ID: SERVICE_ID, APP_PUSH_ENDPOINTS: pushes.host, NODE_EXTRA_CA_CERTS: certificate.certFile },
      ...env,
    },
  });
  logs.push(replica.log);
  return replica;
}

const metricsOf = async ({ adminUrl }: ReplicaProcess): Promise<string> => (await fetch(`${adminUrl}/metrics`)).text();

beforeAll(async () => {
  // No failover is wanted here, however busy the machine is.
  cluster = await startRedisCluster({ settings: { 'cluster-node-timeout': 15_000 } });
  const user = /^user baton (.*)$/m.exec(readFileSync(ACL, 'utf8'))?.[1] ?? '';
  const rules = user.replace(/#0{64}/, `>${PASSWORD}`).split(' ');
  await Promise.all(cluster.nodes.map((node) => node.cli('acl', 'setuser', 'baton', ...rules)));
  await watchScripts();
  broker = await startBroker({});
  pushes = await startFakePushService({ certificate });
  const [one, two] = await Promise.all([start(), start()]);
  replicas = { one, two };
});
afterAll(async () => {
  await stopReplicas();
  await stopBrokers();
  for (const monitor of monitors) monitor.disconnect();
  await cluster.stop();
  await pushes.stop();
  certificate.remove();
  folder.remove();
});

/**
 * The scripts that a server was sent, by the name in their first line. A server that does not have a script gets its
 * whole text.
 */
const scriptsRun = new Set<string>();
const monitors: Redis[] = [];
async function watchScripts(): Promise<void> {
  for (const { port } of cluster.nodes) {
    const plain = new Redis(port, '127.0.0.1');
    const monitor = await plain.monitor();
    monitors.push(plain, monitor);
    monitor.on('monitor', (_time: string, [command, text]: string[]) => {
      const name = command?.toLowerCase() === 'eval' && /^(?:#!.*?(?:\n|\\n))?-- ([\w-]+)/.exec(text ?? '')?.[1];
      if (name) scriptsRun.add(name);
    });
  }
}

describe('on a cluster, as the Redis user that is shipped', () => {
  describeMainJob(
    () => replicas,
    async () => {
      replicas = { ...replicas, two: await start() };
    },
  );

  test('a repeated request makes no second message, and has the account compared', async () => {
    const { one, two } = replicas;
    const user = randomUser();
    const laptop = makeDevice({ user, name: 'Laptop' });
    const phone = makeDevice({ user, name: 'Phone' });
    const onPhone = phone.listen(two);
    await onPhone.next('ready');
    const send = () =>
      laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: 'once' }, idempotencyKey: 'the-same' });
    const [{ body: first }, { body: second }] = [await send(), await send()];
    await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: 'after' } });
    await onPhone.next('message', ({ data }) => data.content === 'after');

    expect(second.message_id).toBe(first.message_id);
    expect(onPhone.events.filter(({ name }) => name === 'message')).toHaveLength(2);
    expect(await metricsOf(one)).toMatch(/^baton_accounts_notified_total\{cause="repeated"\} 1$/m);
    await onPhone.stop();
  });

  test('a stream that was away while more was written than one page holds gets it all', async () => {
    const { one, two } = replicas;
    const user = randomUser();
    const laptop = makeDevice({ user, name: 'Laptop' });
    const phone = makeDevice({ user, name: 'Phone' });
    const before = phone.listen(one);
    await before.next('ready');
    await before.stop();
    const count = 80;
    for (let i = 0; i < count; i++) {
      const content = String(i).padEnd(4_096, '.');
      await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content } });
    }
    const again = phone.listen(one, before.stream.lastEventId ?? '');
    await again.next('message', ({ data, id }) => data.content.startsWith(`${count - 1}.`) && id !== null);
    const { body } = await phone.on(two).call('listMessages');

    expect(again.events.filter(({ name, id }) => name === 'message' && id !== null)).toHaveLength(count);
    expect(body.messages).toHaveLength(count);
    await again.stop();
  });

  test('a transfer whose time is over ends', async () => {
    const { one, two } = replicas;
    const user = randomUser();
    const [laptop, phone] = ['Laptop', 'Phone'].map((name) => makeDevice({ user, name })) as [TestDevice, TestDevice];
    const onPhone = phone.listen(two);
    await onPhone.next('ready');
    const body = { to: 'Phone', files: [{ name: 'a.txt', size: 3 }] };
    const { transfer } = (await laptop.on(one).call('initTransfer', { body })).body;
    await endTimeOf(transfer.transfer_id, user, 'baton', async (command, ...args) => {
      const node = await cluster.primaryOf(args[0]);
      return node.cli(command, ...args);
    });
    const { data } = await onPhone.next('transfer:updated');

    expect(data.transfer).toMatchObject({ state: 'FAILED', error: { code: 'expired' } });
    await onPhone.stop();
  });

  test('a device signs in by an invite, is signed out again, and the account’s data go', async () => {
    const { one, two } = replicas;
    const laptop = makeDevice({ user: randomUser(), name: 'Laptop' });
    const onLaptop = laptop.listen(one);
    await onLaptop.next('ready');
    const by = (what: object) => request(two, { ...(what as { path: string }), headers: laptop.headers });
    const { body: made } = await by({ method: 'POST', path: '/api/auth/qr/invite' });
    const asked = await ask(one, { invite: (made as { invite_id: string }).invite_id });
    expect((await onLaptop.next('signin:requested')).data).toMatchObject({ request_id: asked.requestId });
    const waiting = poll(two, asked, 25_000);
    const path = `/api/auth/qr/request?request_id=${asked.requestId}&approval_code=${asked.code}`;
    expect((await by({ path })).status).toBe(200);
    await by(approval(asked));
    const { status, body } = await waiting;
    const { device_id: id } = (body as { device: { device_id: string } }).device;
    expect(status).toBe(200);
    await onLaptop.next('device:added');
    expect((await by({ method: 'DELETE', path: `/api/devices/${id}` })).status).toBe(204);
    expect((await onLaptop.next('device:removed')).data.device_id).toBe(id);
    expect((await by({ method: 'DELETE', path: '/api/me/data' })).status).toBe(204);
    const { data } = await onLaptop.next(
      'ready',
      ({ data: again }) => again.reason === 'store_lost' || again.reason === 'gap',
    );
    expect(data.resumed).toBe(false);
    const removed = { ...laptop.headers, 'X-Dev-Device': id };
    for (const replica of [one, two]) {
      expectProblem(await request(replica, { path: '/api/me', headers: removed }), 'session_revoked');
    }
    await onLaptop.stop();
  });

  test('a file goes through the relay, and once more for a receiver that lost what it had', async () => {
    const { one, two } = replicas;
    const size = 24 * MIB;
    const file = writeFile(folder.path, 'file', size);
    const relayed = await relayFiles(one, { sizes: [size] });
    const side = { transferId: relayed.id, size };
    const up = keepSending({ ...side, device: relayed.sender, replica: () => one, path: file.path });
    const params = { transfer_id: relayed.id };
    // Nobody reads yet, so the sender goes on until the window of 8 MiB has no room for another chunk.
    const offset = async () =>
      (await relayed.sender.on(two).call('getTransfer', { params })).body.transfer.uploads?.[0]?.offset ?? 0;
    while ((await offset()) < 7.5 * MIB) continue;
    for (const to of ['first', 'again'].map((name) => `${folder.path}/${name}`)) {
      await keepReceiving({ ...side, device: relayed.receiver, replica: () => two, path: to }).done;
      expect(await sha256(to)).toBe(file.sha);
    }
    up.stop();
    await up.done;
    expect((await relayed.receiver.on(two).call('completeTransfer', { params })).body.transfer.state).toBe('DONE');
  });

  test('a device without a stream is woken by a push, and is not once it has left', async () => {
    const { one, two } = replicas;
    const user = randomUser();
    const [laptop, phone] = ['Laptop', 'Phone'].map((name) => makeDevice({ user, name })) as [TestDevice, TestDevice];
    for (const device of [laptop, phone]) await device.on(one).call('getMe');
    const { vapid_public_key: key } = (await phone.on(one).call('getPushConfig')).body;
    const subscription = pushes.subscribe(key ?? undefined);
    const { endpoint, keys } = subscription;
    const subscribed = await phone.on(one).call('subscribePush', { body: { endpoint, keys } });
    const { body: sent } = await laptop.on(two).call('sendMessage', { body: { to: 'Phone', content: 'wake up' } });
    expect(sent.to).toEqual([{ device_id: phone.id, name: 'Phone', online: false, pushed: true }]);
    const [first] = await pushes.received(1, subscription);
    expect(first?.payload).toEqual({ v: 1, type: 'message', count: 1, id: sent.message_id });
    await phone.on(two).call('testPush');
    await pushes.received(2, subscription);
    const params = { subscription_id: subscribed.body.subscription_id };
    expect((await phone.on(two).call('removePushSubscription', { params })).status).toBe(204);
  });

  test('what has ended or was delivered makes room for more', async () => {
    const { one, two } = replicas;
    const parties = await makeParties(one);
    const first = await offer(parties, one);
    const cancel = (transfer_id: string) =>
      parties.sender.on(two).call('cancelTransfer', { params: { transfer_id }, body: {} });
    await cancel(first.transfer_id);
    for (let left = LIMITS.transferRecords; left > 0; left -= 20) {
      const offered = await Promise.all(Array.from({ length: 20 }, () => offer(parties, one)));
      await Promise.all(offered.map(({ transfer_id }) => cancel(transfer_id)));
    }
    await expect(cancel(first.transfer_id)).rejects.toMatchObject({ code: 'not_found' });

    const relayed = await relayFiles(one, { sizes: Array.from({ length: LIMITS.relayKeptFiles + 1 }, () => 10) });
    for (let index = 0; index <= LIMITS.relayKeptFiles; index++) {
      await append(relayed, one, { offset: 0, body: someBytes(10), complete: true, index });
      expect((await read(relayed, two, undefined, index)).bytes).toHaveLength(10);
    }
    await until(async () => scriptsRun.has('relay-evict'));
  });

  test('a replica that asks the broker keeps the keys of tokens for the others', async () => {
    const third = await start({ APP_IDENTITY: 'broker' });
    await until(async () => scriptsRun.has('key-set-keep'));
    expect(await third.stop()).toBe(0);
  });

  test('the rings of an account are kept, read and removed by its members', async () => {
    const { one, two } = replicas;
    const user = randomUser();
    const [laptop, guest] = ['Laptop', 'Guest'].map((name) => makeDevice({ user, name })) as [TestDevice, TestDevice];
    for (const device of [laptop, guest]) await device.on(one).call('getMe');
    const account = { service: SERVICE_ID, user };
    const own = keyed(laptop);
    const by = async (method: string, path: string, body?: object, more: Record<string, string> = {}) => {
      const headers = { ...laptop.headers, ...more };
      const answer = await request(two, { method, path, headers, ...(body !== undefined && { body }) });
      return { status: answer.status, body: answer.body };
    };
    const first = makeRing(account, { by: own, members: [own] });
    expect((await by('PUT', '/api/keys', { ring: first.text }, { 'If-Match': '"0"' })).status).toBe(200);
    const { id, enc, sig } = keyed(guest);
    const list = { n: 1, guests: [{ device_id: id, enc, sig, until: 9 }] };
    const guests = signed(own, account, 'baton/1 guests', Buffer.from(JSON.stringify(list)));
    expect((await by('PUT', '/api/keys/guests', { guests })).status).toBe(200);
    const { deletion } = (await by('DELETE', '/api/keys')).body as { deletion: { at: number } };
    expect((await by('GET', '/api/keys?after=0')).body).toMatchObject({ rings: [first.text], guests });
    const prove = (label: string, more: string[] = []) => ({
      ...{ device_id: laptop.id, n: 1 },
      signature: signParts(own, [label, SERVICE_ID, user, '1', ...more]),
    });
    expect((await by('POST', '/api/keys/keep', prove('baton/1 keys keep', [String(deletion.at)]))).status).toBe(204);
    expect((await by('DELETE', '/api/keys', prove('baton/1 keys delete'))).status).toBe(204);
    expect((await by('GET', '/api/keys?after=0')).status).toBe(404);
  });

  test('streams are attached anew once a replica has lost its channels, and hear what comes then', async () => {
    const user = randomUser();
    const [laptop, phone] = ['Laptop', 'Phone'].map((name) => makeDevice({ user, name })) as [TestDevice, TestDevice];
    const onPhone = phone.listen(replicas.one);
    await onPhone.next('ready');
    await Promise.all(cluster.nodes.map((node) => node.cli('client', 'kill', 'type', 'pubsub')));
    await until(async () => scriptsRun.has('stream-attach'));
    await laptop.on(replicas.two).call('sendMessage', { body: { to: 'Phone', content: 'after it' } });
    expect((await onPhone.next('message')).data.content).toBe('after it');
    await onPhone.stop();
  });

  // Proves G6.
  test('a device is shown offline although the replica that noted it was killed before it could tell the others', async () => {
    const third = await start();
    const user = randomUser();
    const [laptop, phone] = ['Laptop', 'Phone'].map((name) => makeDevice({ user, name })) as [TestDevice, TestDevice];
    const onLaptop = laptop.listen(replicas.one);
    await onLaptop.next('ready');
    const onPhone = phone.listen(third);
    await onPhone.next('ready');
    const isOnline = (devices: readonly { device_id: string | null; online: boolean }[]) =>
      devices.some(({ device_id: id, online }) => id === phone.id && online);
    await onLaptop.next('presence', ({ data }) => isOnline(data.devices));
    await onPhone.stop();
    const [routes, presence] = ['routes', 'presence'].map((name) => `baton:{${user}}:${name}`) as [string, string];
    const primary = await cluster.primaryOf(routes);
    const closed = new RegExp(`^${phone.id}\n\\d+\n\\d+\n\\d+\n[1-9]`, 'm');
    await until(async () => closed.test(await primary.cli('hvals', routes)));
    await third.kill();
    // This is the last that it did, and it has announced nothing of it.
    const version = Number(await primary.cli('hget', presence, 'v')) + 1;
    await primary.cli('hset', presence, phone.id, `0${Date.now()}`, 'v', version);
    const { data: after } = await onLaptop.next('presence', ({ data }) => data.version >= version, 15_000);

    expect(isOnline(after.devices)).toBe(false);
    await onLaptop.stop();
  });

  test('every script has run on it by now', async () => {
    const all = readdirSync(SERVICE, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.lua') && !path.includes('prelude'))
      .map((path) => basename(path, '.lua'));

    expect(all.filter((script) => !scriptsRun.has(script))).toEqual([]);
  });

  test('nothing that a replica needs is denied to it', () => {
    expect(logs.map((log) => log()).join('\n')).not.toMatch(/NOPERM|CROSSSLOT|WRONGTYPE/);
  });
});
