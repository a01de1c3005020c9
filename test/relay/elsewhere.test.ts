import { type Site, startSite } from '../support/site.ts';
import { acknowledge, append, head, offsetOf, read } from './support/asking.ts';
import { relayFiles, someBytes } from './support/relayed.ts';

/* The receiver has a part of a file without the relay: it came from device to device, or in an earlier transfer. */

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.stop());

const uploadsOf = async ({ sender, id }: Awaited<ReturnType<typeof relayFiles>>) =>
  (await sender.on(site.one).call('getTransfer', { params: { transfer_id: id } })).body.transfer.uploads;

test('is not asked of the sender, who is told where to begin', async () => {
  const bytes = someBytes(10_000);
  const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
  const events = site.listen(relayed.sender, site.two);
  await events.next('ready');

  expect((await acknowledge(relayed, site.two, 6_000)).status).toBe(204);
  const { data } = await events.next('relay:rewind');
  expect(data).toMatchObject({ index: 0, offset: 6_000, upload_url: `/api/relay/${relayed.id}/0/1` });
  expect(await uploadsOf(relayed)).toEqual([{ index: 0, upload_url: data.upload_url, offset: 6_000 }]);
  expect((await append(relayed, site.one, { offset: 0, body: bytes })).status).toBe(410);

  const rest = { offset: 6_000, body: bytes.subarray(6_000), generation: 1, complete: true };
  expect((await append(relayed, site.one, rest)).status).toBe(204);
  const got = await read(relayed, site.two, 'bytes=6000-');
  expect(got.bytes.equals(bytes.subarray(6_000))).toBe(true);
});

test('is skipped also by a sender that has begun', async () => {
  const bytes = someBytes(10_000);
  const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
  await append(relayed, site.one, { offset: 0, body: bytes.subarray(0, 1_000) });
  await acknowledge(relayed, site.two, 500);
  expect(await uploadsOf(relayed)).toMatchObject([{ upload_url: `/api/relay/${relayed.id}/0/0`, offset: 1_000 }]);

  await acknowledge(relayed, site.two, 6_000);
  expect(await uploadsOf(relayed)).toMatchObject([{ upload_url: `/api/relay/${relayed.id}/0/1`, offset: 6_000 }]);
});

test('may be a whole file: nothing of it is sent, and nothing of it is kept', async () => {
  const relayed = await relayFiles(site.one, { sizes: [1_000, 2_000] });
  expect((await acknowledge(relayed, site.two, 1_000)).status).toBe(204);

  expect((await uploadsOf(relayed))?.map(({ offset }) => offset)).toEqual([1_000, 0]);
  const refused = await append(relayed, site.one, { offset: 0, body: someBytes(1_000), complete: true });
  expect(refused).toMatchObject({ status: 409, headers: { 'upload-offset': '1000' } });
  expect(offsetOf(await head(relayed, site.one))).toMatchObject({ offset: '1000', complete: '?1' });
  const keys = (await site.redis.keys(`${site.prefix}:relay*`)).filter((key) => key.includes(relayed.id));
  expect(keys).toEqual([]);
  const { body } = await relayed.receiver.on(site.two).call('getTransfer', { params: { transfer_id: relayed.id } });
  expect(body.transfer.progress.received_bytes).toBe(1_000);
});

test('is nothing where it says nothing', async () => {
  const relayed = await relayFiles(site.one, { sizes: [1_000, 0] });
  await acknowledge(relayed, site.two, 0);
  await acknowledge(relayed, site.two, 0, 1);
  expect((await uploadsOf(relayed))?.map(({ upload_url }) => upload_url.at(-1))).toEqual(['0', '0']);
});
