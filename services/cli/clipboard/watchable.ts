import { spawn } from 'node:child_process';
import { CliError } from '../failure.ts';
import { oneLine } from '../output.ts';
import { outputOf, type SystemClipboard } from './programs.ts';
import { systemClipboard } from './system.ts';

const PROGRAM = 'wl-paste';
/** A `wl-paste --watch` that has not ended by then watches. */
const WITHIN_MS = 2_000;

/**
 * Asks whether the compositor lets programs read the clipboard without a window (the data-control protocol, which
 * `wl-paste --watch` needs: wl-clipboard(1)). Returns null if it does, or what `wl-paste` said. GNOME does not have it.
 */
function complaintOfWayland(): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, ['--watch', 'echo'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill(), WITHIN_MS);
    let said = '';
    child.stderr.on('data', (bytes: Buffer) => (said += String(bytes)));
    // It runs the command for what is on the clipboard already.
    child.stdout.on('data', () => child.kill());
    const fail = (message: string) => reject(new CliError(message, { code: 'no_clipboard' }));
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      fail(error.code === 'ENOENT' ? 'wl-paste is not installed.' : `wl-paste: ${error.message}`);
    });
    child.once('close', (_, signal) => {
      clearTimeout(timer);
      const complaint = oneLine(said.trim()) || 'wl-paste --watch ended';
      // There is no compositor.
      if (/failed to connect/i.test(said)) fail(`wl-paste: ${complaint}`);
      else resolve(signal === 'SIGTERM' ? null : complaint);
    });
  });
}

/**
 * Finds the clipboard of this computer for a command that reads it again and again. Without the data-control protocol each
 * `wl-paste` opens a window and takes the focus, so such a clipboard is read through X11 or not at all.
 */
export async function watchableClipboard(platform: string, env: NodeJS.ProcessEnv): Promise<SystemClipboard> {
  const system = systemClipboard(platform, env);
  const isWayland = platform === 'linux' && (env['WAYLAND_DISPLAY'] ?? '') !== '';
  const complaint = isWayland ? await complaintOfWayland() : null;
  if (complaint === null) return system;
  const says = `This desktop shows its clipboard only to the window in front (${complaint}).`;
  if ((env['DISPLAY'] ?? '') === '') {
    throw new CliError(`${says} It has no X11 either, through which it could be watched.`, { code: 'no_clipboard' });
  }
  await outputOf('xclip', ['-version']).catch(() => {
    throw new CliError(`${says} To watch it through X11, install xclip.`, { code: 'no_clipboard' });
  });
  return systemClipboard(platform, { DISPLAY: env['DISPLAY'] });
}
