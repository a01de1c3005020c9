import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileSource, makeBatonClient, requestSignIn, streamSource } from '../../shared/client/index.ts';
import { fileSession } from '../../shared/client/node.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

const FILES = 4_000;
/** The files make some twenty packs. At most eight of these are in the relay at a time. */
const BYTES = 4_500;
const PATIENCE_MS = 300_000;

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
let names: string[];
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
  names = Array.from({ length: FILES }, (_, index) => `${index % 20}/${index}.txt`);
  for (let index = 0; index < 20; index += 1) mkdirSync(join(laptop.folder, 'small', `${index}`), { recursive: true });
  for (const name of names) writeFileSync(join(laptop.folder, 'small', name), randomBytes(BYTES));
});
afterAll(() => cli.stop());

const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Returns how many packs are in the record of what is stored, until the transfer is over. */
function listed(): number {
  const at = join(phone.config, 'receives');
  const records = existsSync(at) ? readdirSync(at).filter((name) => name.endsWith('.jsonl')) : [];
  // The record of a transfer that was received has no entries any more.
  const text = records.map((name) => readFileSync(join(at, name), 'utf8')).join('');
  return new Set(text.match(/"index":\d+(?=,"entry")/g)).size;
}

async function untilListed(packs: number): Promise<void> {
  for (const until = Date.now() + 120_000; Date.now() < until; ) {
    if (listed() >= packs) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('nothing was stored');
}

function expectSame(folder: string): void {
  const into = join(phone.folder, folder);
  expect(readdirSync(into)).toEqual(['small']);
  const found = readdirSync(join(into, 'small'), { recursive: true, withFileTypes: true });
  expect(found.filter((entry) => entry.isFile())).toHaveLength(FILES);
  for (const name of names) {
    expect([name, digest(join(into, 'small', name))]).toEqual([name, digest(join(laptop.folder, 'small', name))]);
  }
}

const receiving = async (folder: string) => {
  const run = phone.run(['receive', '--dir', folder, '--yes', '--once']);
  await run.says(/Waiting for/);
  return run;
};

test(
  'a receiver that is killed among thousands of small files has each of them once when it comes back',
  async () => {
    const first = await receiving('killed');
    const sending = laptop.run(['send', 'small', '--to', 'Phone', '--json']);
    await untilListed(1);
    first.child.kill('SIGKILL');
    expect(await first.status).toBe(137);
    const before = listed();
    expect(before).toBeLessThan(20);
    const second = phone.run(['receive', '--dir', 'killed', '--yes', '--once', '--json']);
    expect([await sending.status, sending.stderr()]).toEqual([0, expect.anything()]);
    expect([await second.status, second.stderr()]).toEqual([0, expect.anything()]);
    expect(JSON.parse(sending.stdout())).toMatchObject({ files: FILES, bytes: FILES * BYTES, state: 'DONE' });
    expect(JSON.parse(second.stdout()).files).toHaveLength(FILES);
    expectSame('killed');
  },
  PATIENCE_MS,
);

test(
  'a sender that is stopped among thousands of small files goes on with the same command',
  async () => {
    const run = await receiving('again');
    const first = laptop.run(['send', 'small', '--to', 'Phone']);
    await untilListed(1);
    first.child.kill('SIGINT');
    expect(await first.status).toBe(130);
    expect((await laptop.ok(['send', 'small', '--to', 'Phone'])).stderr).toContain('Going on where it stopped');
    expect([await run.status, run.stderr()]).toEqual([0, expect.anything()]);
    expectSame('again');
  },
  PATIENCE_MS,
);

/** Returns an archive of one empty file under that name, made by hand. */
function archiveOf(name: string, kind = '0'): Uint8Array {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  const zeros = (digits: number) => `${'0'.repeat(digits)}\x00`;
  header.write(`0000644\x00${zeros(7)}${zeros(7)}${zeros(11)}${zeros(11)}        `, 100);
  header.write(kind, 156);
  if (kind === '2') header.write('/etc/passwd', 157);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, header, Buffer.alloc(1_024)]);
}

function packOf(archive: Uint8Array): FileSource {
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const type = 'application/x-tar; baton-files=2';
  const stream = new Blob([archive as Uint8Array<ArrayBuffer>]).stream();
  return streamSource(stream, { name: 'pack.tar', size: archive.length, type, sha256 });
}

test.each([
  ['out of the folder', '../evil', '0'],
  ['absolute', '/tmp/baton-evil', '0'],
  ['with what a terminal obeys', 'a\u001b[2Jb', '0'],
  ['a link', 'passwd', '2'],
])('a pack with a name %s is refused, and nothing of it is stored', async (_, name, kind) => {
  const run = await receiving('evil');
  const session = fileSession(join(laptop.config, 'session.json'));
  const baton = makeBatonClient({ baseUrl: cli.door.url, session });
  baton.start();
  const sending = await baton.transfers.send('Phone', [packOf(archiveOf(name, kind))]);
  await expect(sending.done).rejects.toMatchObject({ code: 'failed' });
  await baton.close();
  expect(await run.status).toBe(1);
  expect(run.stderr()).toContain('cannot be stored');
  expect(readdirSync(join(phone.folder, 'evil'))).toEqual([]);
  expect([existsSync(join(phone.folder, 'evil', '../evil/passwd')), existsSync('/tmp/baton-evil')]).toEqual([
    false,
    false,
  ]);
});

test('a browser gets the files one by one, as its people see them', async () => {
  mkdirSync(join(laptop.folder, 'hundred'));
  for (let index = 0; index < 100; index += 1) writeFileSync(join(laptop.folder, 'hundred', `${index}`), `${index}`);
  const asking = await requestSignIn({ baseUrl: cli.door.url, deviceName: 'Browser', deviceType: 'browser' });
  await laptop.ok(['approve', asking.link, '--yes']);
  await asking.approved();
  const run = laptop.run(['send', 'hundred', '--to', 'Browser']);
  await run.says(/Browser is not connected/);
  const baton = makeBatonClient({ baseUrl: cli.door.url, session: fileSession(join(laptop.config, 'session.json')) });
  const { transfers } = await baton.transfers.list();
  const counts = transfers.filter(({ receiver }) => receiver.name === 'Browser').map((one) => one.file_count);
  expect(counts).toEqual([100]);
  run.child.kill('SIGINT');
  expect(await run.status).toBe(130);
  await baton.close();
});
