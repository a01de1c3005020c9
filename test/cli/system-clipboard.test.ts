import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* `copy --system` and `paste --system`. A script acts as xsel, or as wl-copy and wl-paste. */

let cli: CliSite;
let laptop: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop] = (await cli.devices('Laptop')) as [Terminal];
});
afterAll(() => cli.stop());

function programs(script: string): string {
  const bin = join(laptop.folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of ['xsel', 'wl-copy', 'wl-paste']) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return `${bin}:${process.env['PATH']}`;
}

const SCREENS = [
  ['X11', { DISPLAY: ':9' }],
  ['Wayland', { WAYLAND_DISPLAY: 'wayland-9', XDG_SESSION_TYPE: 'wayland' }],
] as const;

test.each(SCREENS)('a clipboard of %s that hangs ends a copy and a paste with a reason', async (_, screen) => {
  await laptop.ok(['copy'], { input: 'something' });
  const env = { PATH: programs('exec sleep 1000'), ...screen };
  const runs = [laptop.run(['copy', '--system'], { env }), laptop.run(['paste', '--system', '--json'], { env })];
  const [copying, pasting] = runs as [(typeof runs)[0], (typeof runs)[0]];
  expect([await copying.status, copying.stderr()]).toEqual([
    1,
    'baton: The clipboard of this computer did not answer within 5 s. The program that owns it may hang.\n',
  ]);
  expect(await pasting.status).toBe(1);
  expect(JSON.parse(pasting.stderr())).toMatchObject({ error: { code: 'clipboard_busy' } });
  expect((await laptop.ok(['paste'])).stdout).toBe('something');
});

test('a clipboard that answers is copied as it is', async () => {
  const env = { PATH: programs("printf 'a text\\n'"), DISPLAY: ':9' };
  const copying = laptop.run(['copy', '--system'], { env });
  expect(await copying.status).toBe(0);
  expect((await laptop.ok(['paste'])).stdout).toBe('a text\n');
});
