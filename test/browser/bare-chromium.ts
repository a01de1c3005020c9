import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { CHROMIUM_ARGUMENTS, chromiumPath } from './chromium.ts';
import { type Commands, makeCommands } from './commands.ts';
import { removeProfile } from './remove-profile.ts';

/** Speaks over the pipe of a browser, where a NUL follows each message. */
function speak(to: Writable, from: Readable): Commands {
  const { send, on, take, lose } = makeCommands((text) => void to.write(`${text}\0`));
  let rest = '';
  from.setEncoding('utf8');
  from.on('data', (text: string) => {
    const parts = (rest + text).split('\0');
    rest = parts.pop() ?? '';
    for (const part of parts) take(part);
  });
  from.once('close', lose);
  return { send, on };
}

/** A browser of its own, with its profile on the disk. */
export interface BareChromium extends Commands {
  /** The folder of its profile, which goes with it. */
  readonly folder: string;
  stop(): Promise<void>;
}

/**
 * Starts a Chromium that is driven only by the commands given here. Playwright lets a page report every request with the whole
 * body. What a page sends then goes through JSON and the pipe of the tools, so a sender would measure at many times its real
 * cost.
 */
export function launchBareChromium(): BareChromium {
  const folder = mkdtempSync(join(tmpdir(), 'baton-chromium-'));
  const child: ChildProcess = spawn(
    chromiumPath as string,
    [...CHROMIUM_ARGUMENTS, '--remote-debugging-pipe', '--no-first-run', `--user-data-dir=${folder}`],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const [, , , to, from] = child.stdio;
  return {
    ...speak(to as Writable, from as Readable),
    folder,
    async stop() {
      const ended = once(child, 'close');
      if (child.exitCode === null && child.kill('SIGKILL')) await ended;
      removeProfile(folder);
    },
  };
}
