import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectTo, keysUnder, sharedRedisUrl } from '../support/redis/redis.ts';
import { devicesWithKeys } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* A receiver has stored every file, and the service has not heard that. */

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
afterEach(() => cli.stop());

const AWAY = 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

const found = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();

/** Offers a folder of small files, an empty file and a large one. Returns the id of the transfer. */
async function leaveFiles(): Promise<string> {
  mkdirSync(join(laptop.folder, 'out'));
  for (let at = 0; at < 70; at += 1) writeFileSync(join(laptop.folder, 'out', `${at}.txt`), `file ${at}`);
  writeFileSync(join(laptop.folder, 'empty'), '');
  writeFileSync(join(laptop.folder, 'big'), Buffer.alloc(3_000_000, 'x'));
  const { stdout } = await laptop.ok(['send', 'out', 'empty', 'big', '--to', 'Phone', '--leave', '--json']);
  return (JSON.parse(stdout) as { transfer_id: string }).transfer_id;
}

/** Receives until every file is stored, without the service hearing that, and is killed. */
async function killBeforeEnd(id: string): Promise<void> {
  cli.door.answer(`POST /api/transfer/${id}/complete`, AWAY);
  const run = phone.run(['receive', '--dir', 'in', '--yes']);
  await run.says(/POST \/api\/transfer/);
  run.child.kill('SIGKILL');
  await run.status;
  cli.door.answer(null, '');
}

/** Keeps the state of the service, and returns a function that brings it back, as a failover may. */
async function keepState(): Promise<() => Promise<void>> {
  const redis = connectTo(sharedRedisUrl());
  const kept: [string, Buffer][] = [];
  for (const key of await keysUnder(redis, cli.site.prefix)) {
    const bytes = await redis.dumpBuffer(key);
    if (bytes !== null) kept.push([key, bytes]);
  }
  return async () => {
    for (const [key, bytes] of kept) await redis.restore(key, 0, bytes, 'REPLACE');
    redis.disconnect();
  };
}

test.each([
  ['plain', false],
  ['sealed', true],
])('files that are stored, and then forgotten by the service, are only acknowledged again: %s', async (_, isSealed) => {
  cli = await startCliSite();
  const names = ['Laptop', 'Phone'];
  [laptop, phone] = (await (isSealed ? devicesWithKeys(cli, names) : cli.devices(...names))) as [Terminal, Terminal];
  await killBeforeEnd(await leaveFiles());
  const bringBack = await keepState();
  await phone.ok(['receive', '--dir', 'in', '--yes', '--once']);
  expect(found(join(phone.folder, 'in'))).toHaveLength(72);
  rmSync(join(phone.folder, 'in', 'big'));

  await bringBack();
  const { stdout, stderr } = await phone.ok(['receive', '--dir', 'in', '--once', '--yes']);
  expect(stderr).toMatch(/received before, and only acknowledged again\./);
  expect(stdout).toBe('');
  expect(found(join(phone.folder, 'in'))).toHaveLength(71);
  expect(found(join(phone.folder, 'in')).filter((name) => name.includes('(2)'))).toEqual([]);
  expect((await laptop.ok(['send', '--continue'])).stderr).toContain('Sent to Phone before');
});
