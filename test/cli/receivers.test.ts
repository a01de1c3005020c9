import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeBatonClient, streamSource } from '../../shared/client/index.ts';
import { fileSession } from '../../shared/client/node.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

const MIB = 1024 * 1024;

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
let tablet: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone, tablet] = (await cli.devices('Laptop', 'Phone', 'Tablet')) as [Terminal, Terminal, Terminal];
  // Without a request after it was let in, the device would be signed out again.
  await tablet.ok(['status']);
});
afterAll(() => cli.stop());

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function put(terminal: Terminal, name: string, size: number): string {
  const bytes = Buffer.alloc(size, createHash('sha256').update(name).digest());
  writeFileSync(join(terminal.folder, name), bytes);
  return digest(bytes);
}

/** Resolves when a part of this many bytes lies in the folder. */
async function partOf(folder: string, bytes: number): Promise<void> {
  const at = join(phone.folder, folder, '.baton-parts');
  for (const until = Date.now() + 60_000; Date.now() < until; ) {
    const names = existsSync(at) ? readdirSync(at) : [];
    if (names.some((name) => (statSync(join(at, name), { throwIfNoEntry: false })?.size ?? 0) >= bytes)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('nothing was stored');
}

/** Fills the rest of a disk. */
function fill(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(90 * MIB));
  } catch {
    // The disk is full now.
  }
}

test('two receivers of one device in one folder take a file once, and the second one says who has it', async () => {
  const sha256 = put(laptop, 'big.bin', 24 * MIB);
  const [first, second] = [0, 1].map(() => phone.run(['receive', '--dir', 'both', '--yes']));
  await Promise.all([first?.says(/Waiting for files/), second?.says(/Waiting for files/)]);
  const sending = laptop.run(['send', 'big.bin', '--to', 'Phone']);
  expect([await sending.status, sending.stderr()]).toEqual([0, expect.anything()]);
  await Promise.race([first?.says(/another program of this device/), second?.says(/another program of this device/)]);
  for (const run of [first, second]) run?.child.kill('SIGINT');
  expect([await first?.status, await second?.status]).toEqual([130, 130]);
  expect(readdirSync(join(phone.folder, 'both'))).toEqual(['big.bin']);
  expect(digest(readFileSync(join(phone.folder, 'both', 'big.bin')))).toBe(sha256);
});

test('a second receiver goes on with what the first one had when it is killed', async () => {
  const sha256 = put(laptop, 'after.bin', 24 * MIB);
  const first = phone.run(['receive', '--dir', 'after', '--yes']);
  await first.says(/Waiting for files/);
  const sending = laptop.run(['send', 'after.bin', '--to', 'Phone']);
  await partOf('after', 2 * MIB);
  first.child.kill('SIGSTOP');
  const second = phone.run(['receive', '--dir', 'after', '--yes', '--once']);
  await second.says(/another program of this device/);
  first.child.kill('SIGKILL');
  expect([await second.status, second.stderr()]).toEqual([0, expect.anything()]);
  expect(await sending.status).toBe(0);
  expect(readdirSync(join(phone.folder, 'after'))).toEqual(['after.bin']);
  expect(digest(readFileSync(join(phone.folder, 'after', 'after.bin')))).toBe(sha256);
});

test('a sender that was interrupted keeps nobody waiting; it is listed, and cancelled from either side', async () => {
  put(tablet, 'stale.bin', 24 * MIB);
  put(laptop, 'small.txt', 1_000);
  const stale = tablet.run(['send', 'stale.bin', '--to', 'Phone']);
  await stale.says(/is not connected/);
  stale.child.kill('SIGINT');
  expect(await stale.status).toBe(130);

  const all = phone.run(['receive', '--dir', 'beside', '--yes']);
  await all.says(/Waiting for Tablet.*stale\.bin/);
  await laptop.ok(['send', 'small.txt', '--to', 'Phone']);
  all.child.kill('SIGINT');
  expect(await all.status).toBe(130);
  expect(readFileSync(join(phone.folder, 'beside', 'small.txt'))).toHaveLength(1_000);

  const once = phone.run(['receive', '--dir', 'once', '--yes', '--once']);
  await once.says(/Waiting for files/);
  await laptop.ok(['send', 'small.txt', '--to', 'Phone']);
  // Its part of the other file stays for as long as the transfer can go on.
  const stored = () => readdirSync(join(phone.folder, 'once'));
  expect([await once.status, stored().filter((name) => name !== '.baton-parts')]).toEqual([0, ['small.txt']]);

  const { stdout } = await phone.ok(['transfers']);
  expect(stdout).toMatch(/from Tablet.*stale\.bin/);
  const [live] = JSON.parse((await tablet.ok(['transfers', '--json'])).stdout).transfers;
  await tablet.ok(['cancel', live.transfer_id.slice(0, 18)]);
  expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');
  await phone.ok(['cancel', live.transfer_id], { status: 4 });

  // The next start of either program names what was not sent.
  const next = phone.run(['receive', '--dir', 'beside', '--yes']);
  await next.says(/Not received from Tablet.*stale\.bin/);
  next.child.kill('SIGINT');
  await next.status;
  expect(existsSync(join(phone.folder, 'beside', '.baton-parts'))).toBe(false);
  expect(stored()).toEqual(['small.txt']);
  expect((await tablet.ok(['send', '--continue'])).stderr).toMatch(/Not sent.*stale\.bin/);
});

test('with --json every name that failed is listed, where the sentence says the first of them', async () => {
  const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'];
  for (const name of names) put(laptop, name, 10);
  const sending = laptop.run(['send', ...names, '--to', 'Phone', '--json']);
  const live = async () => JSON.parse((await phone.ok(['transfers', '--json'])).stdout).transfers as object[];
  let [one] = await live();
  while (one === undefined) [one] = await live();
  await phone.ok(['cancel', (one as { transfer_id: string }).transfer_id]);
  expect(await sending.status).toBe(5);
  const failed = JSON.parse(sending.stderr().trim().split('\n').at(-1) as string);
  expect(failed.error.message).toContain('a.txt, b.txt, c.txt and 2 more');
  expect(failed.not_sent).toEqual(names);
});

test('a reader that goes away fails the file on both sides, and nothing of it comes again', async () => {
  put(laptop, 'long.bin', 8 * MIB);
  const taking = phone.run(['receive', '--dir', '-', '--yes'], { onBytes: () => undefined });
  await taking.says(/Waiting for a file/);
  const sending = laptop.run(['send', 'long.bin', '--to', 'Phone']);
  taking.child.stdout?.once('data', () => taking.child.stdout?.destroy());
  expect(await taking.status).toBe(1);
  expect(taking.stderr()).toContain('long.bin');
  expect(await sending.status).toBe(1);
  expect(sending.stderr()).toContain('Not sent to Phone: long.bin');
  expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');
});

test('the question names the first files, and a pack that says it holds none is one file', async () => {
  const asking = phone.run(['receive', '--dir', 'asked'], { onTerminal: true });
  await asking.says(/Waiting for files/);
  const baton = makeBatonClient({ baseUrl: cli.door.url, session: fileSession(join(laptop.config, 'session.json')) });
  baton.start();
  const files = ['.bash_profile', 'b.txt', 'c.txt', 'd.txt', 'pack.tar'].map((name) => {
    const type = name === 'pack.tar' ? 'application/x-tar; baton-files=0' : 'text/plain';
    return streamSource(new Blob(['x']).stream(), { name, size: 1, type });
  });
  const sending = await baton.transfers.send('Phone', files);
  await asking.says(/Laptop sends 5 files: \.bash_profile, b\.txt, c\.txt and 2 more, 5 B\. Take it\?/);
  asking.child.stdin?.write('n\r');
  await expect(sending.done).rejects.toMatchObject({ code: 'rejected' });
  const one = await baton.transfers.send('Phone', files.slice(4));
  await asking.says(/Laptop sends pack\.tar, 1 B\. Take it\?/);
  await one.cancel();
  // A question goes away by itself when its offer is over.
  await asking.says(/taken back/);
  await baton.close();
  asking.child.stdin?.write('\x03');
  expect(await asking.status).toBe(130);
});

test('of two that are offered while another comes, one is asked about at a time', async () => {
  const asking = phone.run(['receive', '--dir', 'in-turn'], { onTerminal: true });
  await asking.says(/Waiting for files/);
  const baton = makeBatonClient({ baseUrl: cli.door.url, session: fileSession(join(laptop.config, 'session.json')) });
  baton.start();
  let finish = () => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from('x'));
      finish = () => {
        controller.enqueue(Buffer.from('y'));
        controller.close();
      };
    },
  });
  const first = await baton.transfers.send('Phone', [streamSource(stream, { name: 'first.txt', size: 2 })]);
  await asking.says(/first\.txt, 2 B\. Take it\?/);
  asking.child.stdin?.write('y\r');
  await asking.says(/Waiting for Laptop: first\.txt/);
  const one = (name: string) => streamSource(new Blob(['x']).stream(), { name, size: 1 });
  const second = await baton.transfers.send('Phone', [one('second.txt')]);
  await asking.says(/second\.txt, 1 B\. Take it\?/);
  const third = await baton.transfers.send('Phone', [one('third.txt')]);
  finish();
  await first.done;
  await asking.says(/in-turn\/first\.txt/);
  asking.child.stdin?.write('n\r');
  await expect(second.done).rejects.toMatchObject({ code: 'rejected' });
  await asking.says(/Refused\.[^]*third\.txt, 1 B\. Take it\?/);
  expect(asking.stdout().match(/third\.txt, 1 B\. Take it/g)).toHaveLength(1);
  asking.child.stdin?.write('y\r');
  await third.done;
  await baton.close();
  asking.child.stdin?.write('\x03');
  await asking.status;
});

/** Runs `work` with a small disk in a folder of the phone. */
async function withDisk(name: string, work: (disk: string) => Promise<void>, sizeMib = 64): Promise<void> {
  const disk = join(phone.folder, name);
  mkdirSync(disk, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'baton-test', disk]);
  try {
    await work(disk);
  } finally {
    execFileSync('umount', ['-l', disk]);
  }
}

test('a disk that fills up keeps what is stored, takes what fits, and goes on when there is space', () =>
  withDisk('disk', async (disk) => {
    const sha256 = put(laptop, 'large.bin', 40 * MIB);
    put(laptop, 'little.txt', 100);
    const taking = phone.run(['receive', '--dir', 'disk', '--yes']);
    await taking.says(/Waiting for files/);
    const sending = laptop.run(['send', 'large.bin', '--to', 'Phone']);
    await partOf('disk', MIB);
    fill(join(disk, 'filler'));
    await taking.says(/large\.bin, 40\.0 MiB: disk has not enough space\. What is stored is kept, and it goes on/);
    truncateSync(join(disk, 'filler'), statSync(join(disk, 'filler')).size - 65_536);
    await laptop.ok(['send', 'little.txt', '--to', 'Phone']);
    expect(sending.child.exitCode).toBeNull();
    execFileSync('rm', [join(disk, 'filler')]);
    expect(await sending.status).toBe(0);
    taking.child.kill('SIGINT');
    await taking.status;
    expect(readdirSync(disk).sort()).toEqual(['large.bin', 'little.txt']);
    expect(digest(readFileSync(join(disk, 'large.bin')))).toBe(sha256);
    expect(taking.stderr().match(/has not enough space/g)).toHaveLength(1);
  }));

test('a command for one transfer ends on a full disk, and the next one goes on with the transfer', () =>
  withDisk('once', async (disk) => {
    const sha256 = put(laptop, 'once.bin', 40 * MIB);
    const taking = phone.run(['receive', '--dir', 'once', '--yes', '--once']);
    await taking.says(/Waiting for/);
    const sending = laptop.run(['send', 'once.bin', '--to', 'Phone']);
    await partOf('once', MIB);
    fill(join(disk, 'filler'));
    expect(await taking.status).toBe(1);
    expect(taking.stderr()).toContain('once has not enough space');
    execFileSync('rm', [join(disk, 'filler')]);
    const next = await phone.ok(['receive', '--dir', 'once', '--yes', '--once']);
    expect(next.stderr).toContain('going on');
    expect(await sending.status).toBe(0);
    expect(digest(readFileSync(join(disk, 'once.bin')))).toBe(sha256);
  }));

test('the sender hears that its files cannot fit', () =>
  withDisk(
    'small',
    async () => {
      put(laptop, 'too-large.bin', 3 * MIB);
      put(laptop, 'fits.bin', 100_000);
      const taking = phone.run(['receive', '--dir', 'small', '--yes']);
      await taking.says(/Waiting for files/);
      const { stderr } = await laptop.ok(['send', 'too-large.bin', '--to', 'Phone'], { status: 5 });
      expect(stderr).toContain('The other device does not have enough space. Not sent to Phone: too-large.bin.');
      await taking.says(/there is not enough space in small\. Refused/);
      await laptop.ok(['send', 'fits.bin', '--to', 'Phone']);
      taking.child.kill('SIGINT');
      await taking.status;
    },
    2,
  ));

test('an offer that cannot be recorded waits for space on the disk of the records', () =>
  withDisk('.config/receives', async (disk) => {
    put(laptop, 'recorded.txt', 100);
    fill(join(disk, 'filler'));
    const taking = phone.run(['receive', '--dir', 'recorded', '--yes']);
    await taking.says(/Waiting for files/);
    const sending = laptop.run(['send', 'recorded.txt', '--to', 'Phone']);
    await taking.says(/recorded\.txt, 100 B: \S+\.config has not enough space/);
    execFileSync('rm', [join(disk, 'filler')]);
    expect(await sending.status).toBe(0);
    taking.child.kill('SIGINT');
    await taking.status;
    expect(readdirSync(join(phone.folder, 'recorded'))).toEqual(['recorded.txt']);
  }));

test('a folder that nothing can be stored in is said before anything is offered', async () => {
  writeFileSync(join(phone.folder, 'a-file'), '');
  const { stderr } = await phone.ok(['receive', '--dir', 'a-file', '--yes'], { status: 1 });
  expect(stderr).toContain('cannot be stored in');
});

test('what was kept of standard input by a program that was killed is removed at the next start, and named', async () => {
  const run = laptop.run(['send', '-', '--to', 'Phone', '--name', 'piped.txt'], { input: process.stdin });
  const sends = join(laptop.config, 'sends');
  for (const until = Date.now() + 30_000; Date.now() < until; ) {
    if (existsSync(sends) && readdirSync(sends).some((name) => name.endsWith('.input'))) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  run.child.kill('SIGKILL');
  await run.status;
  expect((await laptop.ok(['send', '--continue'])).stderr).toMatch(/Not sent.*piped\.txt/);
  expect(readdirSync(sends)).toEqual([]);
});
