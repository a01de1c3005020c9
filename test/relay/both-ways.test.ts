import { join } from 'node:path';
import { type Site, startSite } from '../support/site.ts';
import { curlDown, curlUp, sha256 } from './curl.ts';
import { makeFolder, MIB, relayFiles, writeFile } from './relayed.ts';

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
