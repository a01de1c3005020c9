import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeUnfinishedSends } from '../../../services/cli/unfinished.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const DAY_MS = 86_400_000;

test('claims that killed programs left are removed after days, and those of running programs stay', async () => {
  const sends = makeUnfinishedSends(folder.path, () => readdir(folder.path));
  const running = sends.claim('running');
  // One program was killed after it made the file and before it wrote its process into it. Another was killed before it
  // noted its send.
  const left = ['0b9c2f4e-0000-4000-8000-000000000000.claim', 'begun.1.claim'];
  for (const [index, name] of [...left, 'recent.1.claim'].entries()) {
    const path = join(folder.path, name);
    writeFileSync(path, '');
    const changed = (Date.now() - (index < left.length ? 4 * DAY_MS : DAY_MS)) / 1_000;
    utimesSync(path, changed, changed);
  }
  expect(await sends.list()).toEqual([]);
  expect(readdirSync(folder.path).sort()).toEqual(['recent.1.claim', 'running.1.claim']);
  expect(running?.isHeld()).toBe(true);
  running?.remove();
});
