import { join } from 'node:path';
import { type Site, startSite } from '../support/site.ts';
import { buffered, until } from './support/asking.ts';
import { curlDown, curlUp, sha256 } from './support/curl.ts';
import { makeFolder, MIB, relayFiles, writeFile } from './support/relayed.ts';

let site: Site;
const folder = makeFolder();
beforeAll(async () => {
  site = await startSite();
});
afterAll(async () => {
  await site.stop();
  folder.remove();
});

test('a receiver at 1 MB/s slows a sender at full speed down, and gets every byte; what replicas hold is counted', async () => {
  // The file is larger than the window and all sockets.
  const size = 26 * MIB;
  const file = writeFile(folder.path, 'slow', size);
  const relayed = await relayFiles(site.one, { sizes: [size] });
  const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
  const to = join(folder.path, 'slow.out');
  const down = curlDown(relayed.url(site.two), relayed.receiver.headers, to, ['--limit-rate', '1M']);
  await until(async () => (await buffered(site.one)) > 0 && (await buffered(site.two)) > 0);
  expect(await down.done).toEqual({ code: 0, out: '' });
  expect(await up.done).toEqual({ code: 0, out: '204' });
  expect(await sha256(to)).toBe(file.sha);
  expect([await buffered(site.one), await buffered(site.two)]).toEqual([0, 0]);
});
