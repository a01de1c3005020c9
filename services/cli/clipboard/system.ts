import { CliError } from '../failure.ts';
import { giveTo, NOTHING, outputOf, SECRET, type SystemClipboard, textIn } from './programs.ts';
import { macos, windows } from './untested.ts';

/** The type that KeePassXC, KWallet and others add to a secret that they copy. Its value is `secret`. */
const HINT = 'x-kde-passwordManagerHint';
const TEXT_TYPES = ['text/plain;charset=utf-8', 'UTF8_STRING', 'text/plain'];

/** Makes a clipboard of a program that can list types and return one of them. */
function typedClipboard(
  list: () => Promise<Buffer | null>,
  get: (type: string) => Promise<Buffer | null>,
): SystemClipboard['read'] {
  const typesNow = async () => ((await list())?.toString() ?? '').split('\n').map((line) => line.trim());
  return async () => {
    const types = await typesNow();
    if (types.includes(HINT)) return SECRET;
    const type = TEXT_TYPES.find((each) => types.includes(each));
    if (type === undefined) return NOTHING;
    const text = textIn(await get(type));
    // A secret may have been copied between the two steps.
    return (await typesNow()).includes(HINT) ? SECRET : { text, isSecret: false };
  };
}

const wayland: SystemClipboard = {
  read: typedClipboard(
    () => outputOf('wl-paste', ['--list-types']),
    (type) => outputOf('wl-paste', ['--no-newline', '--type', type]),
  ),
  write: (text) => giveTo('wl-copy', ['--type', 'text/plain'], text),
};

const XCLIP = ['-selection', 'clipboard'];
const x11: SystemClipboard = {
  read: typedClipboard(
    () => outputOf('xclip', [...XCLIP, '-o', '-t', 'TARGETS']),
    (type) => outputOf('xclip', [...XCLIP, '-o', '-t', type]),
  ),
  write: (text) => giveTo('xclip', [...XCLIP, '-i'], text),
};

/** Finds the clipboard of this computer. Throws if there is none, as on a server. */
export function systemClipboard(platform: string, env: NodeJS.ProcessEnv): SystemClipboard {
  if (platform === 'darwin') return macos;
  if (platform === 'win32') return windows;
  if ((env['WAYLAND_DISPLAY'] ?? '') !== '') return wayland;
  if ((env['DISPLAY'] ?? '') !== '') return x11;
  throw new CliError('This computer has no screen, and so no clipboard.', { code: 'no_clipboard' });
}
