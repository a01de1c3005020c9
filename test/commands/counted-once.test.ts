import { randomUUID } from 'node:crypto';
import type { TestDevice } from '../support/device.ts';
import { keysUnder } from '../support/redis/redis.ts';
import { counted } from '../support/scraped.ts';
import { type Site, startSite } from '../support/site.ts';
import { endTimeOf } from '../transfers/expiry.ts';
import { append, head, read, until } from '../relay/support/asking.ts';
import { relayFiles, someBytes } from '../relay/support/relayed.ts';

/*
 * An operator reads these counters as numbers of operations. An operation that is repeated on any replica must not
 * count twice.
 */

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const total = (series: string): Promise<number> => counted([site.one, site.two], `baton_${series}`);

/** Returns by how much a series rose on both replicas together. */
async function rise(series: string, act: () => Promise<unknown>): Promise<number> {
  const before = await total(series);
  await act();
  return (await total(series)) - before;
}

const states = (state: string) => `transfers_total{state="${state}"}`;

async function makeOffer(sender: TestDevice, receiver: TestDevice): Promise<string> {
  const body = { to_device_id: receiver.id, files: [{ name: 'a.txt', size: 1 }] };
  return (await sender.on(site.one).call('initTransfer', { body })).body.transfer.transfer_id;
}

test('a message that is sent again with its Idempotency-Key is one message, on whatever replica', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const call = { body: { to_device_id: phone.id, content: 'hello' }, idempotencyKey: randomUUID() };
  const send = (replica = site.one) => laptop.on(replica).call('sendMessage', call);
  const sent = await rise('messages_total', async () => {
    for (const replica of [site.one, site.one, site.two]) await send(replica);
  });
  expect(sent).toBe(1);
  expect(await rise('messages_total', () => laptop.on(site.one).call('sendMessage', { body: call.body }))).toBe(1);
});

test('an acknowledgement that is repeated is told to the sender once', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const stream = site.listen(laptop, site.two);
  await stream.next('ready');
  const { body } = await laptop
    .on(site.one)
    .call('sendMessage', { body: { to_device_id: phone.id, content: 'hello' } });
  const acknowledge = () => phone.on(site.one).call('ackMessages', { body: { message_ids: [body.message_id] } });
  const told = await rise('events_published_total{event="message:delivered",outcome="heard"}', async () => {
    for (let i = 0; i < 3; i++) await acknowledge();
  });
  expect(told).toBe(1);
});

test('an offer that is made again with its Idempotency-Key is one transfer', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const body = { to_device_id: phone.id, files: [{ name: 'a.txt', size: 1 }] };
  const call = { body, idempotencyKey: randomUUID() };
  const offered = await rise(states('PENDING'), async () => {
    for (const replica of [site.one, site.two, site.one]) await laptop.on(replica).call('initTransfer', call);
  });
  expect(offered).toBe(1);
});

// Proves G12.
test('a step of a transfer that is repeated, by either side, is one transition', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const params = { transfer_id: await makeOffer(laptop, phone) };
  const twice = async (act: (replica: { url: string }) => Promise<unknown>) => {
    for (const replica of [site.one, site.two]) await act(replica);
  };
  // The sender may start the relay before its offer is accepted. The transfer stays pending.
  expect(await rise(states('PENDING'), () => twice((on) => laptop.on(on).call('relayTransfer', { params })))).toBe(0);
  const accept = () => twice((on) => phone.on(on).call('acceptTransfer', { params }));
  expect(await rise(states('RELAY_ACTIVE'), accept)).toBe(1);
  const connect = () =>
    twice(async (on) => {
      await laptop.on(on).call('p2pTransfer', { params });
      await phone.on(on).call('p2pTransfer', { params });
    });
  expect(await rise(states('P2P_ACTIVE'), connect)).toBe(1);
  expect(await rise(states('DONE'), () => twice((on) => phone.on(on).call('completeTransfer', { params })))).toBe(1);
});

test('a transfer that nobody ended in time is counted as failed, once', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const id = await makeOffer(laptop, phone);
  const before = await total(states('FAILED'));
  await endTimeOf(id, laptop.user, site.prefix, (command, ...args) => site.redis.call(command, ...args));
  await until(async () => (await total(states('FAILED'))) > before);
  expect((await total(states('FAILED'))) - before).toBe(1);
});

test('transfers that end with the data of their account are counted as cancelled', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const params = { transfer_id: await makeOffer(laptop, phone) };
  await phone.on(site.one).call('rejectTransfer', { params });
  await makeOffer(laptop, phone);
  expect(await rise(states('CANCELLED'), () => laptop.on(site.one).call('eraseAccount'))).toBe(1);
});

test('a download whose receiver leaves in the middle is told from one that was done', async () => {
  const relayed = await relayFiles(site.one, { sizes: [200_000] });
  const outcomes = (outcome: string) => `relay_outcomes_total{direction="down",outcome="${outcome}"}`;
  const [gone, done] = [await total(outcomes('gone')), await total(outcomes('done'))];
  const receiver = new AbortController();
  const download = fetch(relayed.url(site.two), { headers: relayed.receiver.headers, signal: receiver.signal });
  await append(relayed, site.one, { offset: 0, body: someBytes(100_000) });
  await (await download).body?.getReader().read();
  receiver.abort();
  await until(async () => (await total(outcomes('gone'))) > gone);
  expect(await total(outcomes('done'))).toBe(done);
  await append(relayed, site.one, { offset: 100_000, body: someBytes(100_000), complete: true });
  await read(relayed, site.two);
  await until(async () => (await total(outcomes('done'))) === done + 1);
  expect(await total(outcomes('gone'))).toBe(gone + 1);
});

test('a file that the relay lost goes back once, although two replicas notice it together', async () => {
  const files = Array.from({ length: 8 }, (_, index) => index);
  const relayed = await relayFiles(site.one, { sizes: files.map(() => 1_000) });
  for (const index of files) await append(relayed, site.one, { offset: 0, body: someBytes(500), index });
  const lost = await keysUnder(site.redis, site.prefix, `:relay:*${relayed.id}*`);
  expect(lost.length).toBeGreaterThanOrEqual(files.length);
  const rewinds = async () =>
    (await total('relay_rewinds_total{cause="lost"}')) + (await total('relay_rewinds_total{cause="found"}'));
  // They are deleted one by one, because in a cluster they have slots of their own.
  await Promise.all(lost.map((key) => site.redis.del(key)));
  await Promise.all(
    files.flatMap((index) => [site.one, site.two, site.two, site.one].map((on) => head(relayed, on, 0, index))),
  );
  expect(await rewinds()).toBe(files.length);
});
