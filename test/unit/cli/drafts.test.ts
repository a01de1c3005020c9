import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beginSettled } from '../../../services/cli/sending/settled.ts';
import { supervisorOf } from '../../../services/cli/service/supervisors.ts';
import { writePrivately } from '../../../services/cli/settings.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-drafts-'));
});
afterEach(() => rm(folder, { recursive: true }));

const task = { command: ['baton'], environment: {}, umask: 0o022 };

test.each([
  ['settings.json', () => writePrivately(join(folder, 'settings.json'), {})],
  ['watched.watch', () => beginSettled(folder, 'watched', [{ name: 'a', stamp: '1' }])],
  ['baton-receive.xml', () => supervisorOf('win32', folder)?.install(task)],
])('nothing is left beside %s where it cannot be written', async (name, write) => {
  // A folder has the name of the file.
  await mkdir(join(folder, name));
  await expect(write()).rejects.toMatchObject({ syscall: 'rename' });
  expect(await readdir(folder)).toEqual([name]);
});
