import { type Site, startSite } from '../support/site.ts';
import { active, head, offsetOf, openUpload, until, untilSent } from './support/asking.ts';
import { MIB, relayFiles, someBytes } from './support/relayed.ts';

/* A side that the other one waits for has to move 64 KiB in each stall time, or all that is left. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RELAY_STALL_SECONDS: '1' }, { alone: true });
});
afterAll(() => site.stop());

test('a sender that trickles is ended, and keeps its position', async () => {
  const relayed = await relayFiles(site.one, { sizes: [MIB] });
  const upload = openUpload(relayed, site.one, 0);
  const trickling = setInterval(() => upload.send(Buffer.alloc(1)), 50);
  expect(await upload.answer).toBeNull();
  clearInterval(trickling);
  expect(Number(offsetOf(await head(relayed, site.one)).offset)).toBeGreaterThan(0);
});

test('a sender that has sent the last byte, but not the end of its body, is ended', async () => {
  const relayed = await relayFiles(site.one, { sizes: [1_000] });
  const upload = openUpload(relayed, site.one, 0);
  upload.send(someBytes(1_000));
  await untilSent(relayed, site.one, 1_000);
  expect(await upload.answer).toBeNull();
  await until(async () => (await active(site.one, 'up')) === 0);
  expect(offsetOf(await head(relayed, site.one))).toMatchObject({ offset: '1000', complete: '?1' });
});

test('a transfer of which nothing is heard but its bytes is not over because of that', async () => {
  const relayed = await relayFiles(site.one, { sizes: [30 * MIB] });
  const params = { transfer_id: relayed.id };
  const overAt = async () =>
    (await relayed.sender.on(site.one).call('getTransfer', { params })).body.transfer.expires_at;
  const before = await overAt();
  const upload = openUpload(relayed, site.one, 0);
  const sending = setInterval(() => upload.send(someBytes(128 * 1024)), 100);
  await until(async () => (await overAt()) > before);
  clearInterval(sending);
  expect(await upload.answer).toBeNull();
});
