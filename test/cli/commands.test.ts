import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { until } from '../support/redis/redis-processes.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
});
afterAll(() => cli.stop());

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a device that was let in says who it is, and its session is for its owner alone', async () => {
  const [status] = jsonLines((await phone.ok(['status', '--json'])).stdout);
  expect(status).toMatchObject({ device: { name: 'Phone' }, scope: 'full', url: cli.door.url });
  expect(statSync(join(phone.config, 'session.json')).mode & 0o777).toBe(0o600);
  expect(statSync(phone.config).mode & 0o777).toBe(0o700);
});

test.each([[['manual']], [['completion', 'bash']], [['--help']], [['status']]])(
  '%j ends without an error when nobody reads what it writes',
  async (args) => {
    const run = laptop.run(args);
    run.child.stdout?.destroy();
    expect(await run.status).toBe(0);
    expect(run.stderr()).toBe('');
  },
);

test('a second login is refused unless it is forced', async () => {
  const { stderr } = await phone.ok(['login'], { status: 1 });
  expect(stderr).toContain('signed in as Phone');
});

test('what asks to be let in can be refused, and hears it', async () => {
  const stranger = cli.terminal();
  const asking = stranger.run(['login', cli.door.url, '--name', 'Stranger', '--json']);
  const [, link] = await asking.says(/"link":"([^"]+)"/);
  await laptop.ok(['approve', link as string, '--deny']);
  expect(await asking.status).toBe(5);
  expect(JSON.parse(asking.stderr())).toMatchObject({ error: { code: 'access_denied' } });
});

test('one that was let in for an hour can be removed, and has to sign in anew', async () => {
  const visitor = cli.terminal();
  const asking = visitor.run(['login', cli.door.url, '--name', 'Visitor']);
  const [link] = await asking.says(/http:\/\/\S+\/link\?\S+/);
  await laptop.ok(['approve', link, '--yes', '--once']);
  expect(await asking.status).toBe(0);
  await laptop.ok(['remove', 'Visitor']);
  await visitor.ok(['status'], { status: 3 });
});

test('a link that was used says so to whoever approves it', async () => {
  const visitor = cli.terminal();
  const asking = visitor.run(['login', cli.door.url, '--name', 'Used link']);
  const [link] = await asking.says(/http:\/\/\S+\/link\?\S+/);
  await laptop.ok(['approve', link, '--yes', '--once']);
  expect(await asking.status).toBe(0);
  for (const args of [['--yes'], ['--deny']]) {
    const { stderr } = await laptop.ok(['approve', link, ...args], { status: 1 });
    expect(stderr).toMatch(/^baton: This link was used already: a device has signed in with it\./);
  }
  await laptop.ok(['remove', 'Used link']);
});

test('messages arrive, wait, are shown once, and cannot move the cursor', async () => {
  const { stdout } = await laptop.ok(['message', 'phone', 'hello', 'there']);
  expect(stdout).toBe('Phone: kept until it comes\n');
  await laptop.ok(['message', 'Phone', '-'], { input: 'two\nlines' });
  const kept = jsonLines((await phone.ok(['inbox', '--keep', '--json'])).stdout);
  expect(kept.map(({ content }) => content)).toEqual(['hello there', 'two\nlines']);
  expect((await phone.ok(['inbox'])).stdout).toMatch(/^\S.* Laptop: hello there\n\S.* Laptop: two\n {4}\| lines\n$/);
  expect(await phone.ok(['inbox'])).toMatchObject({ stdout: '', stderr: 'No messages.\n' });
  await laptop.ok(['message', 'Nobody', 'x'], { status: 4 });
  await laptop.ok(['message', 'Phone', 'x'.repeat(5_000)], { status: 1 });
});

test('the inbox that follows shows what comes, and is connected for the others', async () => {
  const following = phone.run(['inbox', '--follow', '--json']);
  const watching = laptop.run(['watch', '--json']);
  await watching.says(/"event":"ready"/);
  await watching.says(/"name":"Phone"[^}]*"online":true/);
  await laptop.ok(['message', '*', 'to all']);
  await following.says(/"content":"to all"/);
  await watching.says(/"event":"message:delivered"/);
  for (const run of [following, watching]) run.child.kill('SIGINT');
  expect(await following.status).toBe(130);
  expect(await watching.status).toBe(130);
  for (const line of jsonLines(watching.stdout())) expect(Object.keys(line)).toEqual(['event', 'data', 'id']);
});

test('the clipboard takes standard input and gives it byte for byte', async () => {
  const text = 'first\n\tsecond \u{1F600}\n';
  await laptop.ok(['copy'], { input: text });
  expect((await phone.ok(['paste'])).stdout).toBe(text);
  await laptop.ok(['copy'], { input: 'x'.repeat(70_000), status: 2 });
  expect((await phone.ok(['paste'])).stdout).toBe(text);
});

test('bytes that are no text are refused, and what was there stays', async () => {
  await laptop.ok(['copy'], { input: 'kept' });
  for (const bytes of [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
    const input = Readable.from([Buffer.from(bytes)]);
    const copying = laptop.run(['copy', '--json'], { input });
    expect([await copying.status, copying.stdout()]).toEqual([2, '']);
    expect(JSON.parse(copying.stderr())).toMatchObject({ error: { code: 'usage' } });
    const sending = laptop.run(['message', 'Phone', '-'], { input: Readable.from([Buffer.from(bytes)]) });
    expect(await sending.status).toBe(2);
  }
  await laptop.ok(['message', 'Phone', 'a\ufffdb'], { status: 2 });
  expect((await phone.ok(['paste'])).stdout).toBe('kept');
  expect(await phone.ok(['inbox'])).toMatchObject({ stdout: '', stderr: 'No messages.\n' });
  const meant = '\ufeff\ufffd \u{1f600}\r\n';
  await laptop.ok(['copy'], { input: meant });
  expect((await phone.ok(['paste'])).stdout).toBe(meant);
});

test('the device that asks is seen now, whenever its last stream was', async () => {
  // A stream of an earlier test counts as open until its grace is over.
  const seen = async () => (await laptop.ok(['devices'])).stdout;
  await until(seen, (list) => !/^ {3}Phone .* online$/m.test(list), 'the phone to be offline');
  expect((await phone.ok(['devices'])).stdout).toMatch(/^\* {2}Phone .* now$/m);
});

test('devices are listed, renamed and watched', async () => {
  const watching = laptop.run(['devices', '--watch', '--json']);
  await watching.says(/"devices":\[/);
  await phone.ok(['rename', 'Telephone']);
  await watching.says(/"name":"Telephone"/);
  await laptop.ok(['rename', 'Telephone', 'Phone']);
  expect((await laptop.ok(['devices'])).stdout).toMatch(/^\* {2}Laptop[^]*\n {3}Phone /m);
  watching.child.kill('SIGINT');
  expect(await watching.status).toBe(130);
});

test('wrong use is status 2, a service that is not there 6, nobody signed in 3', async () => {
  const nobody = cli.terminal();
  for (const args of [['bogus'], ['send'], ['send', 'x'], ['receive'], ['rename'], ['completion', 'tcsh']]) {
    await phone.ok(args, { status: 2 });
  }
  await nobody.ok(['devices'], { status: 3 });
  cli.door.shut();
  try {
    expect((await phone.ok(['status'], { status: 6 })).stderr).toBe('baton: The service cannot be reached.\n');
  } finally {
    cli.door.open();
  }
});

test.each(['bash', 'zsh', 'fish', 'powershell'])('completion for %s names every command', async (shell) => {
  const { stdout } = await phone.ok(['completion', shell]);
  for (const name of ['login', 'send', 'receive', 'paste', 'approve']) expect(stdout).toContain(name);
});

test('what is completed in bash is a name, whatever is in it', async () => {
  const { stdout: script } = await phone.ok(['completion', 'bash']);
  const asked = (words: string, word: string) =>
    execFileSync('bash', ['-c', `${script}\n${words}\n_baton\nprintf '%s\\n' "\${COMPREPLY[@]}"`], {
      env: { PATH: process.env.PATH, WORD: word },
      encoding: 'utf8',
    });
  const devices = `baton() { printf '%s\\n' 'My Phone' '$(echo owned >&2)' '\`id\`;ls' "it's"; }`;
  const at = `COMP_WORDS=(baton send --to "$WORD") COMP_CWORD=3`;
  expect(asked(`${devices}\n${at}`, '')).toBe("My\\ Phone\n\\$\\(echo\\ owned\\ \\>\\&2\\)\n\\`id\\`\\;ls\nit\\'s\n");
  expect(asked(`${devices}\n${at}`, 'My')).toBe('My\\ Phone\n');
  expect((await laptop.ok(['devices', '--names'])).stdout.split('\n').sort()).toEqual(['', 'Laptop', 'Phone']);
});

test('the manual has every command and option, and nothing that is a request of its own', async () => {
  const { stdout } = await phone.ok(['manual']);
  for (const name of ['login', 'send', 'receive', 'invite']) expect(stdout).toContain(`.B ${name} `);
  expect(stdout).toContain('.B \\-\\-exclude <pattern>');
  const requests = new Set([...stdout.matchAll(/^\.(\S+)/gm)].map(([, request]) => request));
  expect([...requests].sort()).toEqual(['B', 'RE', 'RS', 'SH', 'TH', 'TP', 'fi', 'nf']);
});

test('what is excluded of a folder is not sent, and the progress of the rest is told in JSON', async () => {
  const put = (name: string, bytes = 10) => {
    mkdirSync(dirname(join(laptop.folder, name)), { recursive: true });
    writeFileSync(join(laptop.folder, name), Buffer.alloc(bytes, 1));
  };
  for (const name of [
    'a.txt',
    'b.o',
    'node_modules/x/y.js',
    'sub/node_modules/z.js',
    'build/out.txt',
    'sub/build/in.txt',
  ]) {
    put(`project/${name}`);
  }
  put('project/large.bin', 2_000_000);
  const receiving = phone.run(['receive', '--yes', '--once', '--dir', 'excluded', '--json', '--progress']);
  const excluded = ['node_modules', '*.o', 'build/*'].flatMap((pattern) => ['--exclude', pattern]);
  const words = ['send', ...excluded, 'project', '--to', 'Phone'];
  const { stdout } = await laptop.ok([...words, '--json', '--progress']);
  expect(await receiving.status).toBe(0);
  const found = readdirSync(join(phone.folder, 'excluded'), { recursive: true, encoding: 'utf8' }).sort();
  expect(found).toEqual([
    'project',
    'project/a.txt',
    'project/large.bin',
    'project/sub',
    'project/sub/build',
    'project/sub/build/in.txt',
  ]);
  for (const said of [stdout, receiving.stdout()]) {
    const lines = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { progress?: object });
    const last = lines.filter(({ progress }) => progress !== undefined).at(-1)?.progress;
    expect(last).toMatchObject({ bytes: 2_000_020, total_bytes: 2_000_020, files: 3, total_files: 3, paused: false });
  }
});

test('signing out ends the session, here and there', async () => {
  const [one, two] = (await cli.devices('One', 'Two')) as [Terminal, Terminal];
  await two.ok(['logout']);
  await two.ok(['status'], { status: 3 });
  expect((await one.ok(['devices'])).stdout).toContain('One');
  await two.ok(['logout'], { status: 3 });
});

test('a name is meant whatever its case and its spaces, by who sends and by who receives', async () => {
  await phone.ok(['rename', 'My Phone']);
  expect((await laptop.ok(['message', ' my   PHONE', 'hello'])).stdout).toMatch(/^My Phone: /);
  await phone.ok(['inbox']);

  await phone.ok(['rename', 'Phone']);
  await laptop.ok(['rename', 'My Laptop']);
  const receiving = phone.run(['receive', '--yes', '--once', '--from', 'MY  laptop']);
  await receiving.says(/Waiting for files/);
  writeFileSync(join(laptop.folder, 'named.txt'), 'x');
  await laptop.ok(['send', 'named.txt', '--to', 'PHONE ']);
  expect(await receiving.status).toBe(0);
  await laptop.ok(['rename', 'Laptop']);
});
