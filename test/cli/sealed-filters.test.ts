import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* Texts that a script carries from one device to another by itself. */

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
let third: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone, third] = (await devicesWithKeys(cli, ['Laptop', 'Phone', 'Third'])) as [Terminal, Terminal, Terminal];
});
afterAll(() => cli.stop());

const TEXT = 'line one\n\u202Eline two \u{1F600}\n\n';

test('what one device seals another opens byte for byte, and says who sealed it', async () => {
  const { stdout: sealed } = await laptop.ok(['seal'], { input: TEXT });
  expect(sealed).toMatch(/^[\w-]+\n$/);
  expect(sealed).not.toContain(Buffer.from('line one').toString('base64url').slice(0, 8));
  for (const device of [phone, third, laptop]) {
    const { stdout, stderr } = await device.ok(['open'], { input: sealed });
    expect([stdout, stderr]).toEqual([TEXT, expect.stringContaining('Sealed by Laptop')]);
  }
  // A program on the way has wrapped the line.
  const wrapped = sealed.replaceAll(/.{60}/g, '$&\r\n');
  expect((await phone.ok(['open', '--from', 'Laptop'], { input: wrapped })).stdout).toBe(TEXT);
  expect((await phone.ok(['open', '--from', 'Third'], { input: sealed, status: 5 })).stdout).toBe('');
});

test('what is sealed for one device is a message of the service, and no other device opens it', async () => {
  const [said] = (await laptop.ok(['seal', '--to', 'Phone', '--json'], { input: TEXT })).stdout.trim().split('\n');
  const { to, sealed } = JSON.parse(said ?? '') as { to: string; sealed: string };
  expect((await third.ok(['open'], { input: sealed, status: 5 })).stdout).toBe('');
  expect((await phone.ok(['open'], { input: sealed })).stdout).toBe(TEXT);
  const session = readFileSync(join(laptop.config, 'session.json'), 'utf8');
  const { access_token: token } = JSON.parse(session) as { access_token: string };
  const answer = await fetch(`${cli.door.url}/api/message`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ to_device_id: to, sealed }),
  });
  expect(answer.status).toBe(201);
  expect(await jsonOf(phone, 'inbox')).toMatchObject([{ content: TEXT, sealed: true, from_name: 'Laptop' }]);
});

test('what is changed, cut, or no sealed text at all gives an error, and no output', async () => {
  const sealed = (await laptop.ok(['seal'], { input: TEXT })).stdout.trim();
  const changed = `${sealed.slice(0, 60)}${sealed[60] === 'A' ? 'B' : 'A'}${sealed.slice(61)}`;
  for (const input of [changed, sealed.slice(0, -4), 'hello', '', '{}']) {
    const { stdout, stderr } = await phone.ok(['open'], { input, status: 5 });
    expect([input, stdout, stderr]).toEqual([input, '', expect.stringMatching(/^baton: This .+\.\n$/)]);
  }
  await laptop.ok(['seal'], { input: 'x'.repeat(4_097), status: 2 });
});

test('a device without keys neither seals nor opens', async () => {
  const [bare] = (await cli.devices('Bare')) as [Terminal];
  for (const command of ['seal', 'open']) {
    const { stdout, stderr } = await bare.ok([command], { input: 'text', status: 1 });
    expect([stdout, stderr]).toEqual(['', expect.stringContaining('This device has no keys')]);
  }
});
