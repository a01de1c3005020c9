import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* Devices with keys left while no command of the account was connected, so nobody has heard of it. */

let cli: CliSite;
beforeAll(async () => {
  cli = await startCliSite();
});
afterAll(() => cli.stop());

const SAID = 'With the key of the account, and not signed in any more';
const DAY_MS = 86_400_000;

/** Makes an account that one device has left. Returns the others, and the id of that device. */
async function accountWithoutThird(): Promise<[Terminal, Terminal, string]> {
  const [laptop, phone, third] = (await devicesWithKeys(cli, ['Laptop', 'Phone', 'Third'])) as [
    Terminal,
    Terminal,
    Terminal,
  ];
  const { account } = keysOf(third) as { account: { device_id: string } };
  await third.ok(['logout']);
  return [laptop, phone, account.device_id];
}

const keysOf = ({ config }: Terminal): object => JSON.parse(readFileSync(join(config, 'keys.json'), 'utf8')) as object;

test('each command that seals says which device left with the key, until the key is replaced', async () => {
  const [laptop, , id] = await accountWithoutThird();
  writeFileSync(join(laptop.folder, 'a.txt'), 'a');
  const sealing: [string[], { input?: string }][] = [
    [['message', 'Phone', 'hello'], {}],
    [['copy'], { input: 'hello' }],
    [['send', 'a.txt', '--to', 'Phone', '--leave'], {}],
    [['seal'], { input: 'hello' }],
  ];
  for (const [args, options] of sealing) {
    const { stderr } = await laptop.ok(args, options);
    expect(stderr).toContain(`${SAID}: ${id}. If a device was removed or lost, \`baton keys rotate\``);
  }
  expect((await laptop.ok(['keys'])).stderr).toContain('baton keys rotate');
  await laptop.ok(['keys', 'rotate', '--yes']);
  expect((await laptop.ok(['message', 'Phone', 'hello'])).stderr).not.toContain(SAID);
});

test('a device that was not signed in for 90 days loses its place with the next text, and not sooner', async () => {
  const [laptop, phone, id] = await accountWithoutThird();
  const setAway = (days: number): void => {
    const away = { [id]: Date.now() - days * DAY_MS };
    writeFileSync(join(laptop.config, 'keys.json'), JSON.stringify({ ...keysOf(laptop), away }), { mode: 0o600 });
  };
  setAway(89);
  await laptop.ok(['message', 'Phone', 'before']);
  expect(await jsonOf(phone, 'keys')).toMatchObject([{ epoch: 1 }]);
  setAway(91);
  expect((await laptop.ok(['message', 'Phone', 'after'])).stderr).toContain('The key of the account was replaced');
  expect(await jsonOf(phone, 'keys')).toMatchObject([{ epoch: 2, advice: null }]);
  expect(await jsonOf(phone, 'inbox')).toMatchObject([
    { content: 'before', sealed: true },
    { content: 'after', sealed: true },
  ]);
});

test('a message of a device that was removed says so', async () => {
  const [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  await phone.ok(['message', 'Laptop', 'before']);
  expect((await laptop.ok(['inbox', '--keep'])).stdout).toMatch(/Phone: before/);
  await phone.ok(['message', 'Laptop', 'last words']);
  await laptop.ok(['remove', 'Phone']);
  await laptop.ok(['keys', 'rotate', '--yes']);
  expect((await laptop.ok(['inbox', '--keep'])).stdout).toMatch(/Phone \(does not belong to the account any more\): /);
  expect(await jsonOf(laptop, 'inbox')).toContainEqual(
    expect.objectContaining({ content: 'last words', sender: expect.objectContaining({ removed: true }) }),
  );
});

describe('an interrupted send that goes on', () => {
  /**
   * Begins a send that nobody receives, and interrupts it. Returns the other devices of its account, and the id of one
   * that left.
   */
  async function interrupted(): Promise<[Terminal, Terminal, string]> {
    const [laptop, phone, id] = await accountWithoutThird();
    writeFileSync(join(laptop.folder, 'a.txt'), 'a');
    const sending = laptop.run(['send', 'a.txt', '--to', 'Phone']);
    await sending.says(/is not connected/);
    sending.child.kill('SIGINT');
    expect(await sending.status).toBe(130);
    return [laptop, phone, id];
  }

  test('says which device left with the key, as a new one does', async () => {
    const [laptop, phone, id] = await interrupted();
    const receiving = phone.run(['receive', '--yes', '--once']);
    const { stdout, stderr } = await laptop.ok(['send', '--continue']);
    expect(stdout).toContain('Sent to Phone');
    expect(stderr.split(`${SAID}: ${id}.`)).toHaveLength(2);
    expect(await receiving.status).toBe(0);
  });

  test('is refused where a removed device has the key, as a new one is, until the key is replaced', async () => {
    const [laptop, phone, id] = await interrupted();
    writeFileSync(join(laptop.config, 'keys.json'), JSON.stringify({ ...keysOf(laptop), removed: [id] }), {
      mode: 0o600,
    });
    const codes: string[] = [];
    for (const args of [['a.txt', '--to', 'Phone'], ['--continue']]) {
      const run = laptop.run(['send', ...args, '--json']);
      expect(await run.status).toBe(1);
      codes.push(
        (JSON.parse(run.stderr().trim().split('\n').at(-1) as string) as { error: { code: string } }).error.code,
      );
    }
    expect(codes).toEqual(['rotation_due', 'rotation_due']);
    await laptop.ok(['keys', 'rotate', '--yes']);
    const receiving = phone.run(['receive', '--yes', '--once']);
    expect((await laptop.ok(['send', '--continue'])).stdout).toContain('Sent to Phone');
    expect(await receiving.status).toBe(0);
  });
});
