import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

const FILES = 5_000;
const FILE_BYTES = 4_000;
/** The limit is for a machine that does a dozen other things at the same time. */
const PATIENCE_MS = 480_000;

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
});
afterAll(() => cli.stop());

/** Resolves to the milliseconds until everything is stored on the other side. */
async function passed(what: string): Promise<number> {
  const run = phone.run(['receive', '--dir', 'in', '--yes']);
  await run.says(/Waiting for/);
  const startedAt = performance.now();
  const sending = laptop.run(['send', what, '--to', 'Phone']);
  expect([await sending.status, sending.stderr()]).toEqual([0, expect.anything()]);
  const ms = performance.now() - startedAt;
  run.child.kill('SIGINT');
  await run.status;
  return ms;
}

test(
  'a folder of five thousand small files arrives whole, and is measured beside one archive of them',
  async () => {
    const top = join(laptop.folder, 'small');
    for (let i = 0; i < 50; i += 1) mkdirSync(join(top, String(i)), { recursive: true });
    const files = Array.from({ length: FILES }, (_, i) => ({
      name: `${i % 50}/${i}.txt`,
      bytes: randomBytes(FILE_BYTES),
    }));
    for (const { name, bytes } of files) writeFileSync(join(top, name), bytes);
    writeFileSync(join(laptop.folder, 'archive'), Buffer.concat(files.map(({ bytes }) => bytes)));

    const archiveMs = await passed('archive');
    const folderMs = await passed('small');
    const rate = (FILES / folderMs) * 1_000;
    process.stdout.write(
      `${FILES} files of ${FILE_BYTES} B: ${(folderMs / 1_000).toFixed(1)} s, ${rate.toFixed(0)} files/s; one archive ${(archiveMs / 1_000).toFixed(1)} s: ${(folderMs / archiveMs).toFixed(1)} times as long\n`,
    );
    const into = join(phone.folder, 'in/small');
    const found = readdirSync(into, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(found).toHaveLength(FILES);
    for (const { name, bytes } of files) expect(readFileSync(join(into, name)).equals(bytes)).toBe(true);
  },
  PATIENCE_MS,
);
