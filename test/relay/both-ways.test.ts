import { join } from 'node:path';
import { startReplica } from '../support/replicas.ts';
import { sharedRedisUrl } from '../support/redis/redis.ts';
import { type Site, startSite } from '../support/site.ts';
import { active, append, openUpload, read, until, untilSent } from './support/asking.ts';
import { curlDown, curlUp, sha256 } from './support/curl.ts';
import { makeFolder, MIB, relayFiles, someBytes, writeFile } from './support/relayed.ts';

let site: Site;
const folder = makeFolder();
beforeAll(async () => {
  site = await startSite();
});
afterAll(async () => {
  await site.stop();
  folder.remove();
});

test('curl sends into one replica while curl reads from the other', async () => {
  const size = 40 * MIB + 12_345;
  const file = writeFile(folder.path, 'a', size);
  const relayed = await relayFiles(site.one, { sizes: [size] });
  const to = join(folder.path, 'a.out');
  const down = curlDown(relayed.url(site.two), relayed.receiver.headers, to);
  const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
  expect(await up.done).toEqual({ code: 0, out: '204' });
  expect(await down.done).toEqual({ code: 0, out: '' });
  expect(await sha256(to)).toBe(file.sha);
});

test('a replica that stops lets relays end, refuses new ones, and cuts at last where they can go on', async () => {
  const start = (seconds: string) =>
    startReplica({
      ...{ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix },
      env: { APP_DRAIN_TRANSFER_SECONDS: seconds },
    });
  const [patient, hasty] = await Promise.all([start('300'), start('0')]);
  const bytes = someBytes(2_000);
  const relayed = await relayFiles(site.one, { sizes: [2_000, 10] });
  const upload = openUpload(relayed, patient, 0);
  upload.send(bytes.subarray(0, 500));
  await untilSent(relayed, site.one, 500);
  const stopped = patient.stop();
  const refused = async () => {
    const answer = await append(relayed, patient, { offset: 0, body: Buffer.alloc(0), index: 1 });
    return (answer.body as { code?: string } | undefined)?.code === 'draining';
  };
  await until(refused);
  upload.send(bytes.subarray(500, 1_000));
  upload.end();
  expect(await upload.answer).toMatchObject({ status: 204 });
  expect(await stopped).toBe(0);

  const cut = openUpload(relayed, hasty, 1_000);
  cut.send(bytes.subarray(1_000, 1_500));
  await untilSent(relayed, site.one, 1_500);
  expect(await active(hasty, 'up')).toBe(1);
  const ended = hasty.stop();
  const answer = await cut.answer;
  expect([answer?.status, JSON.parse(answer?.body ?? '{}').code]).toEqual([503, 'draining']);
  expect(await ended).toBe(0);
  await append(relayed, site.one, { offset: 1_500, body: bytes.subarray(1_500), complete: true });
  expect((await read(relayed, site.two)).bytes.equals(bytes)).toBe(true);
});
