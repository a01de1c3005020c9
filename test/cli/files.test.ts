import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type CliSite, type Run, startCliSite, type Terminal } from './terminal.ts';

const MIB = 1024 * 1024;

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
});
afterAll(() => cli.stop());

/** Returns bytes that cannot be compressed by a trick. They are the same for the same seed. */
function bytesOf(length: number, seed: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = seed;
  for (let at = 0; at + 4 <= length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes.writeUInt32LE(state, at);
  }
  return bytes;
}

const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

async function receiving(folder: string, more: string[] = []): Promise<Run> {
  const run = phone.run(['receive', '--dir', folder, '--yes', '--once', ...more]);
  await run.says(/Waiting for/);
  return run;
}

/** Resolves when this much of a file is stored under the folder. */
async function stored(folder: string, bytes: number): Promise<void> {
  const at = join(phone.folder, folder);
  const sizes = () => {
    const found = existsSync(at) ? readdirSync(at, { recursive: true, withFileTypes: true }) : [];
    const files = found.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0);
  };
  for (const until = Date.now() + 60_000; Date.now() < until; ) {
    if (sizes().some((size) => size >= bytes)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('nothing was stored');
}

const TAKEN_AT = new Date('2011-05-06T07:08:09Z');

test('files and a folder arrive as they are, with their dates, and nothing that is there is written over', async () => {
  const top = join(laptop.folder, 'photos');
  mkdirSync(join(top, 'sub'), { recursive: true });
  writeFileSync(join(top, 'sub', 'ünïcode é.txt'), 'inner');
  writeFileSync(join(top, 'empty'), '');
  writeFileSync(join(laptop.folder, 'note.txt'), 'mine');
  for (const name of ['photos/empty', 'note.txt']) utimesSync(join(laptop.folder, name), TAKEN_AT, TAKEN_AT);
  mkdirSync(join(phone.folder, 'in'));
  writeFileSync(join(phone.folder, 'in', 'note.txt'), 'was here');

  const run = await receiving('in');
  const { stdout } = await laptop.ok(['send', 'photos', 'note.txt', '--to', 'Phone']);
  expect(await run.status).toBe(0);
  expect(stdout).toContain('note.txt  4 B');
  const read = (name: string) => readFileSync(join(phone.folder, 'in', name), 'utf8');
  expect(read('photos/sub/ünïcode é.txt')).toBe('inner');
  expect(read('photos/empty')).toBe('');
  expect(read('note.txt')).toBe('was here');
  expect(read('note (2).txt')).toBe('mine');
  const dateOf = (name: string) => statSync(join(phone.folder, 'in', name)).mtime;
  expect([dateOf('photos/empty'), dateOf('note (2).txt')]).toEqual([TAKEN_AT, TAKEN_AT]);
});

test('names that are meant to do harm are written safely', async () => {
  const names = ['con.txt', 'line\nend', '\u202Egpj.exe', 'x'.repeat(255), '.hidden', 'a\\b', '-rf', "quo'te"];
  mkdirSync(join(laptop.folder, 'odd'));
  for (const name of names) writeFileSync(join(laptop.folder, 'odd', name), name);
  const run = phone.run(['receive', '--dir', 'odd-in', '--yes', '--json']);
  for (const name of names) await laptop.ok(['send', join('odd', name), '--to', 'Phone', '--json']);
  const got = readdirSync(join(phone.folder, 'odd-in'));
  for (const name of got) expect(name).not.toMatch(/[\x00-\x1f\u202e\\]|^con\.|^\.hidden/);
  expect(got.map((name) => readFileSync(join(phone.folder, 'odd-in', name), 'utf8')).sort()).toEqual(names.sort());
  // Nothing lies beside it.
  expect(readdirSync(phone.folder).sort()).toEqual(['.config', 'in', 'odd-in']);
  run.child.kill('SIGINT');
  expect(await run.status).toBe(130);
});

test('what goes into a pipe comes out of one, and neither end holds it in memory', async () => {
  const size = 192 * MIB;
  const hash = createHash('sha256');
  const input = Readable.from(
    (function* () {
      for (let at = 0; at < size; at += MIB) {
        const bytes = bytesOf(MIB, at + 1);
        hash.update(bytes);
        yield bytes;
      }
    })(),
  );
  const got = createHash('sha256');
  const taking = phone.run(['receive', '--dir', '-', '--yes'], { onBytes: (bytes) => void got.update(bytes) });
  await taking.says(/Waiting for a file/);
  const sending = laptop.run(['send', '-', '--to', 'Phone', '--name', 'backup.tar'], { input });
  const peaks = { sending: 0, taking: 0 };
  const timer = setInterval(() => {
    if (sending.child.exitCode === null) peaks.sending = Math.max(peaks.sending, sending.peakMib());
    if (taking.child.exitCode === null) peaks.taking = Math.max(peaks.taking, taking.peakMib());
  }, 50);
  expect([await sending.status, sending.stderr()]).toEqual([0, expect.anything()]);
  expect(await taking.status).toBe(0);
  clearInterval(timer);
  process.stdout.write(`192 MiB through two pipes, most memory in MiB: ${JSON.stringify(peaks)}\n`);
  expect(got.digest('hex')).toBe(hash.digest('hex'));
  expect(Math.max(peaks.sending, peaks.taking)).toBeLessThan(150);
  expect(readdirSync(join(laptop.config, 'sends'))).toEqual([]);
}, 240_000);

describe('a big file', () => {
  const SIZE = 64 * MIB;
  beforeAll(() => writeFileSync(join(laptop.folder, 'big.bin'), bytesOf(SIZE, 7)));
  const expectSame = (folder: string) =>
    expect(digest(join(phone.folder, folder, 'big.bin'))).toBe(digest(join(laptop.folder, 'big.bin')));

  test('goes on where it was when the receiver is killed and comes back', async () => {
    const first = await receiving('killed');
    const sending = laptop.run(['send', 'big.bin', '--to', 'Phone']);
    await stored('killed', 4 * MIB);
    first.child.kill('SIGKILL');
    expect(await first.status).toBe(137);
    const second = await receiving('killed');
    await second.says(/going on/);
    expect([await sending.status, sending.stderr()]).toEqual([0, expect.anything()]);
    expect(await second.status).toBe(0);
    expectSame('killed');
    expect(readdirSync(join(phone.folder, 'killed'))).toEqual(['big.bin']);
  });

  test('goes on with the same command after Ctrl-C', async () => {
    const run = await receiving('again');
    const first = laptop.run(['send', 'big.bin', '--to', 'Phone']);
    await stored('again', 4 * MIB);
    first.child.kill('SIGINT');
    expect(await first.status).toBe(130);
    expect(first.stderr()).toContain('goes on with it');
    const { stderr } = await laptop.ok(['send', 'big.bin', '--to', 'Phone']);
    expect(stderr).toContain('Going on where it stopped');
    expect(await run.status).toBe(0);
    expectSame('again');
  });

  test('goes on when the network was gone for a while, and when its replica is killed', async () => {
    const run = await receiving('cut');
    const sending = laptop.run(['send', 'big.bin', '--to', 'Phone']);
    await stored('cut', 4 * MIB);
    cli.door.shut();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    cli.door.lead(cli.site.two.url);
    cli.door.open();
    await cli.site.one.kill();
    expect([await sending.status, sending.stderr()]).toEqual([0, expect.anything()]);
    expect(await run.status).toBe(0);
    expectSame('cut');
  });

  test('ends on both sides when the sender is signed out in the middle', async () => {
    const [one, two] = (await cli.devices('One', 'Two')) as [Terminal, Terminal];
    writeFileSync(join(one.folder, 'big.bin'), bytesOf(SIZE, 9));
    // Nobody receives it, so it stops when the relay is full.
    const sending = one.run(['send', 'big.bin', '--to', 'Two']);
    await sending.says(/is not connected/);
    await two.ok(['remove', 'One']);
    expect(await sending.status).toBe(3);
  });
});

test('files for which there is no space are refused before anything is written', async () => {
  const [one, two] = (await cli.devices('Sender', 'Taker')) as [Terminal, Terminal];
  const run = two.run(['receive', '--dir', 'full', '--yes', '--once']);
  await run.says(/Waiting for/);
  const { access_token: token } = JSON.parse(readFileSync(join(one.config, 'session.json'), 'utf8')) as Record<
    string,
    string
  >;
  const offer = await fetch(`${cli.door.url}/api/transfer/init`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ to: 'Taker', files: [{ name: 'huge', size: 999_999_999_999_999 }] }),
  });
  expect(offer.status).toBe(201);
  expect(await run.status).toBe(1);
  expect(run.stderr()).toContain('not enough space');
  expect(readdirSync(join(two.folder, 'full'))).toEqual([]);
});
