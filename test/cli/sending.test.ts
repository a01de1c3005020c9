import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { connectTo, keysUnder, sharedRedisUrl } from '../support/redis/redis.ts';
import { type CliSite, type Run, startCliSite, type Terminal } from './terminal.ts';

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
let tablet: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone, tablet] = (await cli.devices('Laptop', 'Phone', 'Tablet')) as [Terminal, Terminal, Terminal];
});
afterAll(() => cli.stop());

const stop = async (run: Run, signal: NodeJS.Signals = 'SIGINT'): Promise<void> => {
  run.child.kill(signal);
  await run.status;
};

async function receiving(terminal: Terminal, folder: string): Promise<Run> {
  const run = terminal.run(['receive', '--dir', folder, '--yes']);
  await run.says(/Waiting for files/);
  return run;
}

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('--to more than once', () => {
  test('sends a file and standard input to each, and says for each what happened', async () => {
    writeFileSync(join(laptop.folder, 'both.txt'), 'for both');
    const runs = await Promise.all([receiving(phone, 'both'), receiving(tablet, 'both')]);
    const args = ['send', 'both.txt', '-', '--name', 'piped.txt', '--to', 'Phone', '--to', 'Tablet', '--to', 'phone'];
    const { stdout } = await laptop.ok([...args, '--json'], { input: 'from a pipe' });
    const results = linesOf(stdout);
    expect(results.map(({ to }) => (to as { name: string }).name).toSorted()).toEqual(['Phone', 'Tablet']);
    for (const { folder } of [phone, tablet]) {
      expect(readFileSync(join(folder, 'both', 'both.txt'), 'utf8')).toBe('for both');
      expect(readFileSync(join(folder, 'both', 'piped.txt'), 'utf8')).toBe('from a pipe');
    }
    expect(readdirSync(join(laptop.config, 'sends')).filter((name) => /input|json|begun/.test(name))).toEqual([]);
    await Promise.all(runs.map((run) => stop(run)));
  });

  test('reaches the others although one of them refuses, and a receiver that is unknown stops it before anything', async () => {
    writeFileSync(join(laptop.folder, 'one.txt'), 'one');
    const unknown = await laptop.ok(['send', 'one.txt', '--to', 'Phone', '--to', 'Nobody'], { status: 4 });
    expect(unknown.stderr).toContain('There is no device called Nobody');
    expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');

    const run = await receiving(phone, 'one');
    const sending = laptop.run(['send', 'one.txt', '--to', 'Tablet', '--to', 'Phone']);
    await sending.says(/Sent to Phone/);
    const [, id = ''] = /^(\S{8})/m.exec((await tablet.ok(['transfers'])).stdout) ?? [];
    await tablet.ok(['cancel', id]);
    expect(await sending.status).toBe(5);
    expect(sending.stderr()).toContain('Not sent to Tablet: one.txt.');
    expect(readFileSync(join(phone.folder, 'one', 'one.txt'), 'utf8')).toBe('one');
    await stop(run);
  });

  test('goes on with each receiver that a killed command left', async () => {
    writeFileSync(join(laptop.folder, 'killed.bin'), Buffer.alloc(300_000, 'k'));
    const args = ['send', 'killed.bin', '--to', 'Phone', '--to', 'Tablet'];
    const first = laptop.run(args);
    await first.says(/Phone is not connected/);
    await first.says(/Tablet is not connected/);
    await stop(first, 'SIGKILL');
    const runs = await Promise.all([receiving(phone, 'killed'), receiving(tablet, 'killed')]);
    // A receiver may have taken everything by now, because all of it fits in the relay.
    expect((await laptop.ok(args)).stdout.match(/Sent to \w+/g)?.toSorted()).toEqual([
      'Sent to Phone',
      'Sent to Tablet',
    ]);
    for (const { folder } of [phone, tablet]) expect(readdirSync(join(folder, 'killed'))).toEqual(['killed.bin']);
    await Promise.all(runs.map((run) => stop(run)));
  });
});

describe('--limit-rate', () => {
  test('takes at least the time that the rate gives', async () => {
    writeFileSync(join(laptop.folder, 'slow.bin'), Buffer.alloc(1024 * 1024, 's'));
    const run = await receiving(phone, 'slow');
    const startedAt = performance.now();
    await laptop.ok(['send', 'slow.bin', '--to', 'Phone', '--limit-rate', '256K']);
    // 1 MiB at 256 KiB/s is 4 s. The first part leaves at once.
    expect(performance.now() - startedAt).toBeGreaterThan(3_800);
    expect(readFileSync(join(phone.folder, 'slow', 'slow.bin'))).toEqual(Buffer.alloc(1024 * 1024, 's'));
    await stop(run);
  });

  test.each(['0', '1K', 'fast', '-2M', '2T', ''])('refuses %j', async (rate) => {
    const { stderr } = await laptop.ok(['send', 'slow.bin', '--to', 'Phone', `--limit-rate=${rate}`], { status: 2 });
    expect(stderr).toContain('--limit-rate takes bytes per second');
  });
});

describe('--watch', () => {
  /** Makes a folder with one old file, and a command that watches it. */
  function watched(name: string) {
    const folder = join(laptop.folder, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'old.txt'), 'was there before');
    const put = (file: string, text: string): void => writeFileSync(join(folder, file), text);
    return { folder, put, start: (...to: string[]) => laptop.run(['send', '--watch', name, ...to.flatMap(toOf)]) };
  }
  const toOf = (name: string): string[] => ['--to', name];

  /** Resolves when the receiver has a file of that name. */
  async function arrived(terminal: Terminal, folder: string, name: string): Promise<void> {
    while (!existsSync(join(terminal.folder, folder, name))) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  test('sends each new finished file once, to each receiver, and passes over what is not one', async () => {
    const { folder, put, start } = watched('new');
    const runs = await Promise.all([receiving(phone, 'new'), receiving(tablet, 'new')]);
    const watching = start('Phone', 'Tablet');
    await watching.says(/Watching .* for Phone, Tablet/);
    expect(watching.stderr()).toContain('1 file in');
    for (const name of ['.hidden', 'movie.mp4.part', 'x.crdownload', '~$text.docx', 'text~']) put(name, 'not yet');
    put('movie.mp4', 'a browser is not ready');
    put('empty.txt', '');
    mkdirSync(join(folder, 'below'));
    put('below/deep.txt', 'not in the folder itself');
    put('a.txt', 'first');
    await Promise.all([arrived(phone, 'new', 'a.txt'), arrived(tablet, 'new', 'a.txt')]);
    renameSync(join(folder, 'movie.mp4.part'), join(folder, 'movie.mp4'));
    await arrived(phone, 'new', 'movie.mp4');
    put('a.txt', 'first, changed');
    await arrived(phone, 'new', 'a (2).txt');
    await arrived(tablet, 'new', 'a (2).txt');
    await arrived(tablet, 'new', 'movie.mp4');
    await stop(watching);
    await Promise.all(runs.map((run) => stop(run)));
    for (const terminal of [phone, tablet]) {
      expect(readdirSync(join(terminal.folder, 'new')).toSorted()).toEqual(['a (2).txt', 'a.txt', 'movie.mp4']);
    }
  });

  test.each([
    ['before its receiver takes it', /is not connected/],
    ['right after it said that it is sent', /Sent to Phone/],
  ])('sends a file once although it is killed %s', async (how, says) => {
    const name = how.replaceAll(' ', '-');
    const { put, start } = watched(name);
    const isThere = says.source.startsWith('Sent');
    const early = isThere ? await receiving(phone, name) : null;
    const first = start('Phone');
    await first.says(/Watching/);
    put('once.txt', 'once');
    await first.says(says);
    await stop(first, 'SIGKILL');
    put('meanwhile.txt', 'came while nobody watched');
    const run = early ?? (await receiving(phone, name));
    const second = start('Phone');
    await arrived(phone, name, 'once.txt');
    await arrived(phone, name, 'meanwhile.txt');
    await second.says(/Sent to Phone/);
    put('last.txt', 'last');
    await arrived(phone, name, 'last.txt');
    await stop(second);
    await stop(run);
    expect(readdirSync(join(phone.folder, name)).toSorted()).toEqual(['last.txt', 'meanwhile.txt', 'once.txt']);
    expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');
  });

  test('sends no file of a FAT drive again after a change to summer time', async () => {
    const { folder, put, start } = watched('fat');
    // FAT has dates of whole, even seconds.
    const date = (name: string, seconds: number): void => utimesSync(join(folder, name), seconds, seconds);
    const [written, hour] = [1_700_000_000, 3_600];
    date('old.txt', written);
    const run = await receiving(phone, 'fat');
    const first = start('Phone');
    await first.says(/Watching/);
    put('sent.txt', 'sent');
    date('sent.txt', written);
    await arrived(phone, 'fat', 'sent.txt');
    await first.says(/Sent to Phone/);
    await stop(first);
    date('old.txt', written + hour);
    date('sent.txt', written - hour);
    put('new.txt', 'new');
    date('new.txt', written + hour);
    const second = start('Phone');
    await arrived(phone, 'fat', 'new.txt');
    put('sent.txt', 'sent, changed');
    await arrived(phone, 'fat', 'sent (2).txt');
    await stop(second);
    await stop(run);
    expect(readdirSync(join(phone.folder, 'fat')).toSorted()).toEqual(['new.txt', 'sent (2).txt', 'sent.txt']);
  });

  test('sends a file once although the service is away when it goes on with it', async () => {
    const { put, start } = watched('away');
    const first = start('Phone');
    await first.says(/Watching/);
    put('once.txt', 'once');
    await first.says(/is not connected/);
    await stop(first, 'SIGKILL');
    // The program first asks what became of it, and asks again when it goes on.
    const asked = cli.door.keepAnswer('GET /api/transfer/', 1);
    const second = start('Phone');
    await asked;
    cli.door.shut();
    await second.says(/once\.txt has to wait/);
    cli.door.open();
    const run = await receiving(phone, 'away');
    await second.says(/Sent to Phone/);
    await stop(second);
    await stop(run);
    expect(readdirSync(join(phone.folder, 'away'))).toEqual(['once.txt']);
    expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');
  });

  test.each(['while the program runs', 'while no program runs'])(
    'sends a file again whose transfer the store lost %s',
    async (when) => {
      const name = when.replaceAll(' ', '-');
      const { put, start } = watched(name);
      const first = start('Phone');
      await first.says(/Watching/);
      put('lost.txt', 'lost');
      await first.says(/is not connected/);
      if (when === 'while no program runs') await stop(first, 'SIGKILL');
      const redis = connectTo(sharedRedisUrl());
      const keys = await keysUnder(redis, cli.site.prefix, ':*:transfer:*');
      expect(keys).not.toEqual([]);
      for (const key of keys) await redis.del(key);
      redis.disconnect();
      let second = first;
      if (first.child.killed) {
        second = start('Phone');
      } else {
        cli.door.shut();
        cli.door.open();
        await first.says(/lost\.txt has to wait/);
      }
      const run = await receiving(phone, name);
      await second.says(/Sent to Phone/);
      await stop(second);
      await stop(run);
      expect(readdirSync(join(phone.folder, name))).toEqual(['lost.txt']);
      expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');
    },
  );

  test('waits for a folder that is away, and goes on with its files', async () => {
    const { folder, put, start } = watched('drive');
    const first = start('Phone');
    await first.says(/Watching/);
    put('begun.txt', 'begun');
    await first.says(/is not connected/);
    await stop(first, 'SIGKILL');
    // The drive is not mounted yet: its folder is there, and is empty.
    const mounted = join(laptop.folder, 'mounted');
    renameSync(folder, mounted);
    mkdirSync(folder);
    const second = start('Phone');
    await second.says(/Watching/);
    rmdirSync(folder);
    await second.says(/ENOENT/);
    renameSync(mounted, folder);
    const run = await receiving(phone, 'drive');
    await arrived(phone, 'drive', 'begun.txt');
    put('later.txt', 'later');
    await arrived(phone, 'drive', 'later.txt');
    await stop(second);
    await stop(run);
    expect(readdirSync(join(phone.folder, 'drive')).toSorted()).toEqual(['begun.txt', 'later.txt']);
    expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');
  });

  test('goes on after a file that the receiver refuses, and does not send it again', async () => {
    const { put, start } = watched('refused');
    const first = start('Phone');
    await first.says(/Watching/);
    put('refused.txt', 'no');
    await first.says(/is not connected/);
    const [, id = ''] = /^(\S{8})/m.exec((await phone.ok(['transfers'])).stdout) ?? [];
    await phone.ok(['cancel', id]);
    await first.says(/Not sent to Phone: refused\.txt/);
    await stop(first);
    const run = await receiving(phone, 'refused');
    const second = start('Phone');
    await second.says(/Watching/);
    put('wanted.txt', 'yes');
    await arrived(phone, 'refused', 'wanted.txt');
    await stop(second);
    await stop(run);
    expect(readdirSync(join(phone.folder, 'refused'))).toEqual(['wanted.txt']);
  });

  test('one program watches a folder for a receiver, and what is no folder is refused', async () => {
    const { folder, start } = watched('twice');
    const first = start('Phone');
    await first.says(/Watching/);
    const second = await laptop.ok(['send', '--watch', 'twice', '--to', 'Phone'], { status: 1 });
    expect(second.stderr).toContain('Another program watches');
    await stop(first);
    utimesSync(join(folder, 'old.txt'), 1, 1);
    expect((await laptop.ok(['send', '--watch', 'twice/old.txt', '--to', 'Phone'], { status: 4 })).stderr).toContain(
      'is not a folder',
    );
    expect((await laptop.ok(['send', 'x', '--watch', 'twice', '--to', 'Phone'], { status: 2 })).stderr).toContain(
      '--watch',
    );
  });
});
