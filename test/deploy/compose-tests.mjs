import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Device, Stream } from './device.mjs';
import { must } from './docker.mjs';
import { until } from './site.mjs';

const SERVICES = ['redis', 'broker', 'replica-1', 'replica-2', 'edge'];
const MIB = 1_048_576;
const FILE_BYTES = 96 * MIB;
/** nginx with two workers uses a tenth of that when it buffers nothing. */
const EDGE_MOST_MIB = 64;
const QUIET_SECONDS = 90;
/** An account may send two messages a second over a long time. */
const BETWEEN_MESSAGES_MS = 600;

const STATUS = "console.log(require('node:fs').readFileSync('/proc/1/status', 'utf8'))";
const RESTRICTED =
  '{{.Config.User}} {{.HostConfig.ReadonlyRootfs}} {{json .HostConfig.CapDrop}} {{json .HostConfig.SecurityOpt}}';

export async function testSite({ test, site }) {
  await test('docker compose up reaches healthy without a word of configuration', async () => {
    await site.up();
    for (const service of SERVICES) assert.ok(site.isHealthy(service), `${service} is not healthy`);
  });
  for (const [what, path] of [
    ['the web app', '/'],
    ['the reference of the API', '/api/docs'],
  ]) {
    await test(`${what} is there, with its files`, async () => {
      const page = await (await fetch(`${site.url}${path}`)).text();
      const files = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, file]) => file);
      assert.ok(files.length > 0, page.slice(0, 500));
      for (const file of files) {
        const answer = await fetch(new URL(file, `${site.url}${path}`));
        assert.equal(answer.status, 200, file);
        await answer.arrayBuffer();
      }
      return `${files.length} files`;
    });
  }
  await test('every container is an ordinary user without capabilities on a read-only root', () => {
    for (const service of SERVICES)
      assert.equal(site.inspect(service, RESTRICTED), '65532:65532 true ["ALL"] ["no-new-privileges:true"]', service);
    const status = site.run('replica-1', STATUS);
    assert.match(status, /^CapEff:\t0+$/m);
    assert.match(status, /^NoNewPrivs:\t1$/m);
  });
  await test('of the memory that a replica may take about half is heap', () => {
    const script = 'console.log(require("node:v8").getHeapStatistics().heap_size_limit, process.constrainedMemory())';
    const [heap, memory] = site.run('replica-1', script).split(' ').map(Number);
    assert.equal(memory, 768 * MIB);
    assert.ok(heap > 0.5 * memory && heap < 0.65 * memory, `${heap} of ${memory}`);
    return `${Math.round(heap / MIB)} of ${memory / MIB} MiB`;
  });
  await test('each service has its own secrets and no other, and a second start keeps them', async () => {
    const script = `console.log(require('node:fs').readdirSync('/run/baton').sort().join(' '))`;
    const digestOf = (file) =>
      `console.log(require('node:crypto').createHash('sha256').update(require('node:fs').readFileSync('/run/baton/${file}')).digest('hex'))`;
    const [digest, password] = [digestOf('edge-secret'), digestOf('redis-password')];
    const before = site.run('replica-1', digest);
    // Each has its own password of Redis, in a volume of its own. The passwords of others, including the operator's,
    // are `password-…`.
    assert.deepEqual(site.run('replica-1', script).match(/\S*password\S*/g), ['redis-password']);
    assert.deepEqual(site.run('broker', script).match(/\S*password\S*/g), ['redis-password']);
    assert.notEqual(site.run('replica-1', password), site.run('broker', password));
    assert.doesNotMatch(site.run('replica-1', script), /tokens|users\.acl|secret\.conf/);
    assert.doesNotMatch(site.run('broker', script), /edge-secret|users\.acl|vapid/);
    assert.match(await site.compose('run', '--rm', 'secrets'), /every secret was there/);
    assert.equal(site.run('replica-1', digest), before);
  });
}

export async function testUse({ test, site }) {
  const [laptop, phone, watch] = ['Laptop', 'Phone', 'Watch'].map((name) => new Device(site.url, name));
  const quiet = { stream: null, since: 0 };
  await test('the development login lets two devices in through the edge, and nobody without it', async () => {
    for (const device of [laptop, phone, watch]) await device.signIn('ann');
    const { devices } = await laptop.call('GET', '/api/devices');
    assert.deepEqual(devices.map(({ name }) => name).sort(), ['Laptop', 'Phone', 'Watch']);
    const stranger = new Device(site.url, 'Stranger');
    const headers = { 'X-Auth-Subject': 'ann', 'X-Auth-Scope': 'full', 'X-Dev-User': 'ann' };
    await stranger.call('GET', '/api/devices', { status: 401, headers });
  });
  quiet.stream = new Stream(watch);
  const phoneStream = new Stream(phone);
  await test('a message reaches a stream through the edge', async () => {
    await until('the streams', () => phoneStream.opened > 0 && quiet.stream.opened > 0);
    quiet.since = Date.now();
    const sentAt = Date.now();
    await laptop.call('POST', '/api/message', { status: 201, json: { to: 'Phone', content: 'hello' } });
    const [heard] = await until(
      'the message',
      () => phoneStream.named('message').length > 0 && phoneStream.named('message'),
    );
    assert.equal(heard.data.content, 'hello');
    return `${heard.at - sentAt} ms`;
  });
  await test('a Redis that is killed and started anew still has every session, device and message', async () => {
    const before = await phone.call('GET', '/api/message');
    assert.equal(before.messages.length, 1);
    await site.docker('kill', 'redis');
    await site.docker('start', 'redis');
    await until('redis healthy', () => site.isHealthy('redis'), 60);
    // Redis had not rewritten its file, so it reads everything from the commands as they came.
    const after = await until('the store', () => phone.call('GET', '/api/message'));
    assert.deepEqual(after, before);
    const { devices } = await laptop.call('GET', '/api/devices');
    assert.deepEqual(devices.map(({ name }) => name).sort(), ['Laptop', 'Phone', 'Watch']);
  });
  await test('a relayed file passes nginx as it comes: nothing waits in its memory or on its disk', () =>
    relay(site, laptop, phone));
  await test(`a stream stays open through ${QUIET_SECONDS} s in which nothing happens`, async () => {
    await until('the time', () => Date.now() - quiet.since > QUIET_SECONDS * 1000, QUIET_SECONDS + 10);
    assert.equal(quiet.stream.opened, 1);
    assert.ok(quiet.stream.named('ping').length >= 4, `${quiet.stream.named('ping').length} pings`);
    await quiet.stream.leave();
  });
  await testFaults({ test, site, laptop, phoneStream });
  await phoneStream.leave();
}

/** Sends the second piece when the receiver has the first. Measures what nginx holds when all pieces have passed. */
async function relay(site, sender, receiver) {
  const json = { to: receiver.name, files: [{ name: 'file.bin', size: FILE_BYTES }] };
  const { transfer } = await sender.call('POST', '/api/transfer/init', { status: 201, json });
  const id = transfer.transfer_id;
  await sender.call('POST', `/api/transfer/${id}/relay`);
  await receiver.call('POST', `/api/transfer/${id}/accept`);
  const [sent, received] = [createHash('sha256'), createHash('sha256')];
  let arrived = 0;
  async function* pieces() {
    for (let at = 0; at < FILE_BYTES; at += MIB) {
      const piece = randomBytes(MIB);
      sent.update(piece);
      yield piece;
      if (at === 0) await until('the first piece at the receiver', () => arrived === MIB, 20);
    }
  }
  const path = `/api/relay/${id}/0/0`;
  const signal = AbortSignal.timeout(120_000);
  const download = receiver.ask('GET', path, { signal });
  const headers = { 'Content-Type': 'application/partial-upload', 'Upload-Offset': '0', 'Upload-Complete': '?1' };
  const upload = sender.ask('PATCH', path, { body: ReadableStream.from(pieces()), headers, signal });
  const startedAt = Date.now();
  for await (const bytes of (await download).body) {
    received.update(bytes);
    arrived += bytes.length;
  }
  assert.ok((await upload).ok, `the upload was answered ${(await upload).status}`);
  const seconds = (Date.now() - startedAt) / 1000;
  assert.equal(arrived, FILE_BYTES);
  assert.equal(received.digest('hex'), sent.digest('hex'));
  const used = must('docker', ['stats', '--no-stream', '--format', '{{.MemUsage}}', site.containerOf('edge')]).trim();
  const [, number, unit] = /^([\d.]+)(\w+)/.exec(used);
  const mib = Number(number) / { KiB: 1024, MiB: 1, GiB: 1 / 1024 }[unit];
  // Files of nginx would be in /tmp, which is memory too.
  assert.ok(mib < EDGE_MOST_MIB, `the edge uses ${used}`);
  return `${FILE_BYTES / MIB} MiB in ${seconds.toFixed(1)} s, the edge uses ${Math.round(mib)} MiB`;
}

/**
 * Sends messages from one device to another while `disturb` goes on, and until both can talk again. Returns the lost
 * ones.
 */
async function lostMessages({ laptop, phoneStream }, disturb) {
  const accepted = new Set();
  let refused = 0;
  let over = false;
  let giveUpAt = Number.POSITIVE_INFINITY;
  const pause = () => new Promise((resolve) => setTimeout(resolve, BETWEEN_MESSAGES_MS));
  const send = async () => {
    const json = { to: 'Phone', content: `number ${accepted.size + refused}` };
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    for (;;) {
      const answer = await laptop.ask('POST', '/api/message', { json, headers }).catch(() => null);
      const said = await answer?.text().catch(() => null);
      if (answer?.status === 201 && said) return accepted.add(JSON.parse(said).message_id);
      refused += 1;
      if (giveUpAt < Date.now()) throw new Error(`refused: ${answer?.status} ${said}`);
      await pause();
    }
  };
  const talk = (async () => {
    while (!over) {
      await send();
      await pause();
    }
    await send();
  })();
  const more = (count, from = accepted.size) => until('more messages', () => accepted.size >= from + count);
  const whole = async () => {
    await more(5);
    await disturb();
    await more(5);
  };
  await whole().finally(() => {
    over = true;
    giveUpAt = Date.now() + 60_000;
  });
  await talk;
  const heard = () => new Set(phoneStream.named('message').map(({ data }) => data.message_id));
  const lost = () => [...accepted].filter((id) => !heard().has(id));
  await until('every message', () => lost().length === 0, 30).catch(() => {});
  const ids = [...heard()];
  for (let i = 0; i < ids.length; i += 100) await phoneStream.acknowledge(ids.slice(i, i + 100));
  return { lost: lost(), figure: `${accepted.size} messages, ${refused} tries refused` };
}

async function testFaults({ test, site, laptop, phoneStream }) {
  const all = { laptop, phoneStream };
  const withoutLoss = async (disturb) => {
    const { lost, figure } = await lostMessages(all, disturb);
    assert.deepEqual(lost, []);
    return figure;
  };
  const healthy = (service) => until(`${service} healthy`, () => site.isHealthy(service), 60);
  await test('a replica that is killed loses nothing, and serves again when it is started', () =>
    withoutLoss(async () => {
      const opened = phoneStream.opened;
      for (const service of ['replica-1', 'replica-2']) {
        await site.docker('kill', service);
        await until('a stream', () => laptop.call('GET', '/api/devices'));
        await site.docker('start', service);
        await healthy(service);
      }
      await until('the stream on another replica', () => phoneStream.opened > opened);
    }));
  await test('a replica that is stopped drains, ends by itself, and loses nothing', () =>
    withoutLoss(async () => {
      await site.docker('stop', 'replica-1', '--time', '120');
      assert.equal(site.inspect('replica-1', '{{.State.ExitCode}}'), '0');
      await site.docker('start', 'replica-1');
      await healthy('replica-1');
    }));
  await test('a Redis that is started anew has everything: no message and no session is lost', async () => {
    const figure = await withoutLoss(async () => {
      await site.docker('restart', 'redis');
      await healthy('redis');
    });
    await laptop.call('GET', '/api/devices');
    return figure;
  });
}

/** Tests the profiles for the other kinds of Redis, each from nothing. */
export async function testMode({ test, mode, site }) {
  await test(`with the profile ${mode} it reaches healthy, and a message passes`, async () => {
    try {
      await site.up();
      const [laptop, phone] = ['Laptop', 'Phone'].map((name) => new Device(site.url, name));
      for (const device of [laptop, phone]) await device.signIn('ann');
      const stream = new Stream(phone);
      await until('the stream', () => stream.opened > 0);
      await laptop.call('POST', '/api/message', { status: 201, json: { to: 'Phone', content: mode } });
      await until('the message', () => stream.named('message').length > 0);
      await stream.leave();
    } catch (error) {
      throw new Error(`${error.message}\n${await site.logs()}`, { cause: error });
    } finally {
      await site.down();
    }
  });
}
