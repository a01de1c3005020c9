import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devicesWithKeys } from './keyed-devices.ts';
import { type CliSite, type Run, startCliSite, type Terminal } from './terminal.ts';

/*
 * The clipboard of a computer and that of the account. The clipboard programs are scripts that take the arguments of the real
 * ones (xclip 0.13, wl-clipboard 2.2), and refuse any others. A folder acts as the clipboard, with a file for each type.
 */

let cli: CliSite;
let laptop: Terminal;
let desktop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  const names = ['Laptop', 'Desktop', 'Phone'];
  [laptop, desktop, phone] = (await devicesWithKeys(cli, names)) as [Terminal, Terminal, Terminal];
});
afterEach(async () => {
  for (const run of running.splice(0)) {
    run.child.kill('SIGINT');
    await run.status;
  }
});
afterAll(() => cli.stop());

const running: Run[] = [];

const XCLIP = `#!/bin/sh
case "$*" in
  "-selection clipboard -o -t TARGETS") cd "$BOARD" && set -- * && [ -e "$1" ] || { echo 'Error: target TARGETS not available' >&2; exit 1; }; echo TARGETS; printf '%s\\n' * | tr '+' '/' ;;
  "-selection clipboard -o -t "*) exec cat "$BOARD/$(printf %s "$5" | tr '/' '+')" ;;
  "-version") echo 'xclip version 0.13' >&2 ;;
  "-selection clipboard -i") rm -f "$BOARD"/*; cat >"$BOARD/.new"; mv "$BOARD/.new" "$BOARD/UTF8_STRING" ;;
  *) echo "Error: bad arguments: $*" >&2; exit 2 ;;
esac
`;
const WL_PASTE = `#!/bin/sh
case "$*" in
  "--watch echo") [ -z "$FOCUS" ] && exec tail -f /dev/null; echo 'Watch mode requires a compositor that supports the wlroots data-control protocol' >&2; exit 1 ;;
  "--list-types") [ -z "$FOCUS" ] || touch "$FOCUS"; cd "$BOARD" && set -- * && [ -e "$1" ] || { echo 'Nothing is copied' >&2; exit 1; }; printf '%s\\n' * | tr '+' '/' ;;
  "--no-newline --type "*) exec cat "$BOARD/$(printf %s "$3" | tr '/' '+')" ;;
  *) echo "bad arguments: $*" >&2; exit 1 ;;
esac
`;
const WL_COPY = `#!/bin/sh
[ "$*" = "--type text/plain" ] || exit 1
rm -f "$BOARD"/*; cat >"$BOARD/.new"; mv "$BOARD/.new" "$BOARD/text+plain"
`;

/** Makes the clipboard of a computer, with these programs before all others. */
function computer({ folder }: Terminal, programs: Record<string, string>, screen: Record<string, string>) {
  const [bin, board] = [join(folder, 'bin'), join(folder, 'board')];
  for (const each of [bin, board]) {
    rmSync(each, { recursive: true, force: true });
    mkdirSync(each);
  }
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  const TYPES = ['UTF8_STRING', 'text+plain'];
  return {
    env: { PATH: `${bin}:${process.env['PATH']}`, BOARD: board, ...screen },
    copy(types: Record<string, string>) {
      for (const name of [...TYPES, 'image+png', 'x-kde-passwordManagerHint'])
        rmSync(join(board, name), { force: true });
      for (const [type, text] of Object.entries(types)) writeFileSync(join(board, type), text);
    },
    has: (): string | undefined =>
      TYPES.filter((name) => existsSync(join(board, name))).map((name) => readFileSync(join(board, name), 'utf8'))[0],
  };
}
type Computer = ReturnType<typeof computer>;

const x11 = (terminal: Terminal): Computer => computer(terminal, { xclip: XCLIP }, { DISPLAY: ':9' });
const wayland = (terminal: Terminal): Computer =>
  computer(terminal, { 'wl-paste': WL_PASTE, 'wl-copy': WL_COPY }, { WAYLAND_DISPLAY: 'wayland-9' });

async function watching(terminal: Terminal, { env }: Computer): Promise<Run> {
  const run = terminal.run(['clipboard', '--watch'], { env });
  running.push(run);
  await run.says(/Watching the clipboard/);
  return run;
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 30_000; !isSo(); ) {
    if (Date.now() > end) throw new Error('not in time');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const linesOf = (run: Run): string[] =>
  run
    .stdout()
    .split('\n')
    .filter((line) => line !== '');

test('a text goes from one computer to the other and back, each once, and nothing goes round', async () => {
  const [one, two] = [x11(laptop), wayland(desktop)];
  one.copy({ UTF8_STRING: 'was there before' });
  const [first, second] = [await watching(laptop, one), await watching(desktop, two)];
  one.copy({ UTF8_STRING: 'from the laptop \u{1F600}\r\n' });
  await until(() => two.has() !== undefined);
  expect(two.has()).toBe('from the laptop \u{1F600}\r\n');
  two.copy({ 'text+plain': 'from the desktop' });
  await until(() => one.has() === 'from the desktop');
  await phone.ok(['copy'], { input: 'from the phone' });
  await until(() => one.has() === 'from the phone' && two.has() === 'from the phone');
  // If a text went round, every look of the next seconds would send it again.
  await phone.ok(['paste']);
  const looks = 3;
  for (let look = 0; look < looks; look += 1) await phone.ok(['paste']);
  const sent = 'From|To the account';
  expect(linesOf(first).map((line) => line.match(sent)?.[0])).toEqual(['To the account', 'From', 'From']);
  expect(linesOf(second).map((line) => line.match(sent)?.[0])).toEqual(['From', 'To the account', 'From']);
  expect(first.stdout() + first.stderr()).not.toContain('laptop \u{1F600}');
});

test('what a password manager marks as secret, pictures, and what is not encrypted are left alone', async () => {
  const [one, two] = [wayland(laptop), x11(desktop)];
  const [first, second] = [await watching(laptop, one), await watching(desktop, two)];
  one.copy({ 'text+plain': 'the password', 'x-kde-passwordManagerHint': 'secret' });
  two.copy({ UTF8_STRING: 'another password', 'x-kde-passwordManagerHint': 'secret' });
  for (const run of [first, second]) await run.says(/Left alone, copied here: A password manager marked it as secret/);
  one.copy({ 'image+png': 'a picture' });
  one.copy({ 'text+plain': 'a text' });
  await until(() => two.has() === 'a text');
  await phone.ok(['copy', '--plain'], { input: 'in the clear' });
  for (const run of [first, second]) await run.says(/Left alone, from Phone: It is not encrypted/);
  expect([one.has(), two.has()]).toEqual(['a text', 'a text']);
  expect([linesOf(first), linesOf(second)]).toEqual([
    [expect.stringContaining('secret'), expect.stringContaining('To the account: 6'), expect.any(String)],
    [expect.stringContaining('secret'), expect.stringContaining('From Laptop: 6'), expect.any(String)],
  ]);
});

test('a desktop that would give wl-paste the focus is watched through X11, or not at all', async () => {
  const focus = join(laptop.folder, 'focus');
  const programs = { 'wl-paste': WL_PASTE, 'wl-copy': WL_COPY, xclip: XCLIP };
  const gnome = computer(laptop, programs, { WAYLAND_DISPLAY: 'wayland-9', DISPLAY: ':9', FOCUS: focus });
  await watching(laptop, gnome);
  await phone.ok(['copy'], { input: 'from the phone to GNOME' });
  await until(() => gnome.has() === 'from the phone to GNOME');
  gnome.copy({ UTF8_STRING: 'from GNOME' });
  while ((await phone.ok(['paste'])).stdout !== 'from GNOME') await new Promise((resolve) => setTimeout(resolve, 50));
  expect(existsSync(focus)).toBe(false);

  const { env } = computer(desktop, programs, { WAYLAND_DISPLAY: 'wayland-9', DISPLAY: '', FOCUS: focus });
  const refused = desktop.run(['clipboard', '--watch'], { env });
  expect(await refused.status).toBe(1);
  expect(refused.stderr()).toContain('supports the wlroots data-control protocol');
  expect(existsSync(focus)).toBe(false);
});

test('it is refused where the account is not encrypted, and where the computer has no clipboard', async () => {
  const [bare] = (await cli.devices('Bare')) as [Terminal];
  const run = bare.run(['clipboard', '--watch'], { env: x11(bare).env });
  expect([await run.status, run.stderr()]).toEqual([
    5,
    expect.stringContaining('Only an encrypted clipboard is watched'),
  ]);
  expect((await laptop.ok(['clipboard', '--watch'], { status: 1 })).stderr).toContain('and so no clipboard');
  const without = laptop.run(['clipboard', '--watch'], { env: { DISPLAY: ':9', PATH: join(laptop.folder, 'none') } });
  expect([await without.status, without.stderr()]).toEqual([1, expect.stringContaining('xclip is not installed')]);
  await laptop.ok(['clipboard'], { status: 2 });
});

test('a text that waited for the service does not replace what was copied later elsewhere', async () => {
  const one = x11(laptop);
  one.copy({ UTF8_STRING: 'was there before' });
  const run = await watching(laptop, one);
  const body = JSON.stringify({ code: 'store_unavailable', status: 503, title: 'The store is away' });
  const head = ['HTTP/1.1 503 Service Unavailable', 'Retry-After: 10', 'Content-Type: application/problem+json'];
  head.push('Connection: close', `Content-Length: ${body.length}`);
  cli.door.answer('PUT /api/clipboard', `${head.join('\r\n')}\r\n\r\n${body}`);
  one.copy({ UTF8_STRING: 'copied first' });
  await run.says(/The next try is at/);
  cli.door.answer(null, '');
  await phone.ok(['copy'], { input: 'copied later' });
  await run.says(/From Phone: 12 bytes/);
  await run.says(/Left alone, copied here: A text that was copied there later took its place/);
  expect(one.has()).toBe('copied later');
  expect((await phone.ok(['paste'])).stdout).toBe('copied later');
});

test('it says which device left with the key', async () => {
  const { account } = JSON.parse(readFileSync(join(phone.config, 'keys.json'), 'utf8')) as {
    account: { device_id: string };
  };
  await phone.ok(['logout']);
  const run = await watching(laptop, x11(laptop));
  expect(run.stderr()).toContain(`not signed in any more: ${account.device_id}`);
});
