import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { CHROMIUM_ARGUMENTS, chromiumPath } from './chromium.ts';

type Params = Record<string, unknown>;
type Listener = (params: Params) => void;
interface Message {
  id?: number;
  method?: string;
  params?: Params;
  result?: Params;
  error?: { message: string };
}

/** Commands of the DevTools protocol, over the pipe of a browser: JSON, with a NUL behind each message. */
export interface Commands {
  send(method: string, params?: Params, sessionId?: string): Promise<Params>;
  on(method: string, listener: Listener): void;
}

function speak(to: Writable, from: Readable): Commands {
  const waiting = new Map<number, { resolve: (result: Params) => void; reject: (error: Error) => void }>();
  const listeners = new Map<string, Listener[]>();
  let last = 0;
  let rest = '';

  function take({ id, method = '', params = {}, result = {}, error }: Message): void {
    for (const listener of listeners.get(method) ?? []) listener(params);
    const asker = id === undefined ? undefined : waiting.get(id);
    if (id !== undefined) waiting.delete(id);
    if (error === undefined) asker?.resolve(result);
    else asker?.reject(new Error(error.message));
  }

  from.setEncoding('utf8');
  from.on('data', (text: string) => {
    const parts = (rest + text).split('\0');
    rest = parts.pop() ?? '';
    for (const part of parts) take(JSON.parse(part) as Message);
  });
  from.once('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('The browser is gone'));
  });
  return {
    send(method, params = {}, sessionId) {
      last += 1;
      const id = last;
      to.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    on: (method, listener) => void listeners.set(method, [...(listeners.get(method) ?? []), listener]),
  };
}

/** A browser of its own, with its profile on the disk. */
export interface BareChromium extends Commands {
  /** Where its profile is; gone with it. */
  readonly folder: string;
  stop(): Promise<void>;
}

/**
 * Chromium, driven by no more than it is asked for here. Playwright has a page tell it of every request, with the whole body:
 * what a page sends then goes through JSON and the pipe of the tools, and a sender is measured at many times what it takes.
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
      rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
