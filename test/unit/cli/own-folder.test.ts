import { mkdirSync, writeFileSync } from 'node:fs';
import { join, posix, win32 } from 'node:path';
import { pathBelow } from '../../../services/cli/sending/own-folder.ts';
import { sourcesOf } from '../../../services/cli/sending/sources.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

/* The configuration folder of this device stays out of what is sent. */

const folder = makeFolder();
const given = process.env['BATON_CONFIG_DIR'];
afterAll(() => {
  if (given === undefined) delete process.env['BATON_CONFIG_DIR'];
  else process.env['BATON_CONFIG_DIR'] = given;
  folder.remove();
});

test.each([
  ['below', posix, '/home/me', '/home/me/.config/baton', '.config/baton'],
  ['beside', posix, '/home/me/photos', '/home/me/.config/baton', null],
  ['below, with two dots at the start of its name', posix, '/home', '/home/..me/baton', '..me/baton'],
  ['below, on Windows', win32, 'C:\\Users\\me', 'C:\\Users\\me\\AppData\\baton', 'AppData/baton'],
  ['on another drive of Windows', win32, 'D:\\Photos', 'C:\\Users\\me\\AppData\\baton', null],
])('a configuration folder that is %s', (_, path, at, own, below) => {
  expect(pathBelow(at, own, path)).toBe(below);
});

test('a folder of the same path below another root is sent', async () => {
  const [home, old] = ['home', 'old-home'].map((name) => join(folder.path, name)) as [string, string];
  for (const root of [home, old]) {
    mkdirSync(join(root, '.config', 'baton'), { recursive: true });
    writeFileSync(join(root, '.config', 'baton', 'keys.json'), '{}');
  }
  process.env['BATON_CONFIG_DIR'] = join(home, '.config', 'baton');
  const { sources, skipped } = await sourcesOf({ paths: [home, old], spool: null });
  expect(sources.map(({ name }) => name)).toEqual(['old-home/.config/baton/keys.json']);
  expect(skipped).toEqual([{ path: 'home/.config/baton', why: 'own_keys' }]);
});
