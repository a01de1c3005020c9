import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
});
afterAll(() => cli.stop());

async function receiveOnce(folder: string, ...more: string[]): Promise<{ done: () => Promise<string[]> }> {
  const run = phone.run(['receive', '--dir', folder, '--yes', '--once', '--json', ...more]);
  // With --json the program does not say that it waits.
  return {
    async done() {
      expect([await run.status, run.stderr()]).toEqual([0, '']);
      const { files } = JSON.parse(run.stdout()) as { files: string[] };
      return files.map((path) => path.slice(join(phone.folder, folder).length + 1)).sort();
    },
  };
}

test('a folder with odd names is sent whole: what has another name there, and what is not sent, is said by name', async () => {
  const top = join(laptop.folder, 'odd');
  mkdirSync(join(top, 'empty'), { recursive: true });
  const names = ['Icon\r', 'a\\b', 'fine.txt', '\u061cexe.txt', `${'x'.repeat(200)}.txt`];
  for (const name of names) writeFileSync(join(top, name), name);
  writeFileSync(Buffer.concat([Buffer.from(`${top}/caf`), Buffer.of(0xe9)]), 'latin');
  symlinkSync('fine.txt', join(top, 'link'));
  execFileSync('mkfifo', [join(top, 'pipe')]);

  const taking = await receiveOnce('in');
  const { stderr } = await laptop.ok(['send', 'odd', '--to', 'Phone']);
  expect(await taking.done()).toEqual(
    ['Icon_', 'a_b', 'caf_', 'fine.txt', '_exe.txt', `${'x'.repeat(200)}.txt`].map((name) => `odd/${name}`).sort(),
  );
  expect(readFileSync(join(phone.folder, 'in', 'odd', 'caf_'), 'utf8')).toBe('latin');
  for (const line of [
    'Not sent: odd/empty (an empty folder)',
    'Not sent: odd/link (a link)',
    'Not sent: odd/pipe (a pipe)',
    'Sent under another name: odd/a\\b as odd/a_b',
    'Sent under another name: odd/Icon\\r as odd/Icon_',
    'Sent under another name: odd/caf\\udce9 as odd/caf_',
  ]) {
    expect(stderr).toContain(`${line}\n`);
  }
  expect(stderr).not.toMatch(/[\r\u061c]/);

  const again = await receiveOnce('json');
  const { stdout } = await laptop.ok(['send', 'odd', '--to', 'Phone', '--json']);
  await again.done();
  expect(JSON.parse(stdout)).toMatchObject({
    files: 6,
    renamed: expect.arrayContaining([{ path: 'odd/a\\b', name: 'odd/a_b' }]),
    skipped: [
      { path: 'odd/empty', why: 'empty_folder' },
      { path: 'odd/link', why: 'link' },
      { path: 'odd/pipe', why: 'pipe' },
    ],
  });
});

test('a folder in which nothing can be sent says why, and a name for standard input is made one', async () => {
  mkdirSync(join(laptop.folder, 'nothing', 'empty'), { recursive: true });
  const { stderr } = await laptop.ok(['send', 'nothing', '--to', 'Phone'], { status: 2 });
  expect(stderr).toContain('Not sent: nothing/empty (an empty folder)\n');
  expect(stderr).toContain('There is no file in it.');
  const taking = await receiveOnce('named');
  const said = await laptop.ok(['send', '-', '--to', 'Phone', '--name', 'a\\b'], { input: 'text' });
  expect(said.stderr).toContain('Sent under another name: a\\b as a_b\n');
  expect(await taking.done()).toEqual(['a_b']);
});

test('a hidden name at the top is stored with _, and as it is with --hidden; inside of a folder it stays', async () => {
  mkdirSync(join(laptop.folder, '.ssh'));
  mkdirSync(join(laptop.folder, 'project', '.git'), { recursive: true });
  mkdirSync(join(laptop.folder, '.baton-parts'));
  for (const name of ['.bash_profile', '.ssh/authorized_keys', 'project/.git/config', '.baton-parts/x'])
    writeFileSync(join(laptop.folder, name), name);
  const all = ['.bash_profile', '.ssh', 'project', '.baton-parts'];
  const taking = await receiveOnce('safe');
  await laptop.ok(['send', ...all, '--to', 'Phone']);
  expect(await taking.done()).toEqual(
    ['_baton-parts/x', '_bash_profile', '_ssh/authorized_keys', 'project/.git/config'].sort(),
  );
  const hidden = await receiveOnce('hidden', '--hidden');
  await laptop.ok(['send', ...all, '--to', 'Phone']);
  expect(await hidden.done()).toEqual(
    ['_baton-parts/x', '.bash_profile', '.ssh/authorized_keys', 'project/.git/config'].sort(),
  );
  expect(readdirSync(join(phone.folder, 'safe')).filter((name) => name.startsWith('.'))).toEqual([]);
});
