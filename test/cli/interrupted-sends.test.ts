import { renameSync, truncateSync, writeFileSync } from 'node:fs';
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

const put = (name: string): void => writeFileSync(join(laptop.folder, name), Buffer.alloc(300_000, name));

/** Resolves when the receiver has said yes. */
async function accepted(): Promise<void> {
  while (!/accepted/.test((await phone.ok(['transfers'])).stdout));
}

test.each([
  ['killed', 'SIGKILL', ['send', '--continue']],
  ['interrupted', 'SIGINT', ['send', 'other 日本.bin', '--to', 'Phone']],
] as const)(
  'an offer whose sender was %s before it heard of it is taken back from a receiver that said yes to it',
  async (how, signal, next) => {
    const name = `${how} 日本.bin`;
    put(name);
    put('other 日本.bin');
    const receiving = phone.run(['receive', '--dir', 'taken', '--yes']);
    await receiving.says(/Waiting for files/);
    const isOffered = cli.door.keepAnswer('POST /api/transfer/init');
    const sending = laptop.run(['send', name, '--to', 'Phone']);
    await isOffered;
    await accepted();
    sending.child.kill(signal);
    await sending.status;

    expect((await laptop.ok(next)).stderr).toContain(`Not sent, interrupted before: ${name}`);
    await receiving.says(new RegExp(`Not received from Laptop: ${name}`));
    expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');
    receiving.child.kill('SIGINT');
    await receiving.status;
    expect((await laptop.ok(['send', '--continue'])).stderr).toBe('Nothing was interrupted.\n');
  },
);

test('a command that is killed while it goes on with what it had offered is not said to be not sent', async () => {
  put('twice.bin');
  for (const says of [/is not connected/, /Going on/]) {
    const sending = laptop.run(['send', 'twice.bin', '--to', 'Phone']);
    await sending.says(says);
    sending.child.kill('SIGKILL');
    await sending.status;
  }
  const receiving = phone.run(['receive', '--dir', 'twice', '--yes', '--once']);
  const { stdout, stderr } = await laptop.ok(['send', '--continue']);
  expect([stdout, stderr]).toEqual([expect.stringContaining('Sent to Phone'), expect.not.stringContaining('Not sent')]);
  expect(await receiving.status).toBe(0);
});

test('a send whose drive is away is not given up', async () => {
  put('on a drive.bin');
  const sending = laptop.run(['send', 'on a drive.bin', '--to', 'Phone']);
  await sending.says(/is not connected/);
  sending.child.kill('SIGKILL');
  await sending.status;
  const [file, away] = ['on a drive.bin', 'away'].map((name) => join(laptop.folder, name)) as [string, string];
  renameSync(file, away);
  const { stderr } = await laptop.ok(['send', '--continue'], { status: 4 });
  expect(stderr).toContain('on a drive.bin does not exist');
  renameSync(away, file);
  const receiving = phone.run(['receive', '--dir', 'drive', '--yes', '--once']);
  expect((await laptop.ok(['send', '--continue'])).stdout).toContain('Sent to Phone');
  expect(await receiving.status).toBe(0);
});

test('whoever waits for files hears that some are prepared, and the sender sees how far it is', async () => {
  const name = 'much.bin';
  writeFileSync(join(laptop.folder, name), '');
  // The file takes no space, and all of it is read.
  truncateSync(join(laptop.folder, name), 12 * 1024 ** 3);
  const receiving = phone.run(['receive', '--dir', 'much', '--yes']);
  await receiving.says(/Waiting for files/);
  const sending = laptop.run(['send', name, '--to', 'Phone'], { onTerminal: true });
  await receiving.says(/Laptop is preparing 1 file \(12\.0 GiB\) \.\.\./);
  await sending.says(/Preparing {2}[\d.]+ [KMG]iB of 12\.0 GiB/);
  for (const run of [sending, receiving]) run.child.kill('SIGINT');
  expect(await receiving.status).toBe(130);
  await sending.status;
  expect((await phone.ok(['transfers'])).stdout).toBe('No transfer is under way.\n');
});
