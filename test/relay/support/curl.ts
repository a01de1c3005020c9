import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** A running `curl`. */
export interface Curl {
  readonly process: ChildProcess;
  /** Its exit code, null when it was killed, and what it printed. */
  readonly done: Promise<{ code: number | null; out: string }>;
  kill(): void;
}

function curl(args: readonly string[]): Curl {
  const child = spawn('curl', ['-sS', '--noproxy', '*', ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
  }
  const done = once(child, 'close').then(([code]) => ({ code: code as number | null, out }));
  return { process: child, done, kill: () => void child.kill('SIGKILL') };
}

const flags = (headers: Record<string, string>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);

/** Runs `curl -X PATCH -T` from an offset of the file. It prints the status. */
export function curlUp(
  url: string,
  headers: Record<string, string>,
  path: string,
  { offset = 0, more = [] }: { offset?: number; more?: string[] } = {},
): Curl {
  const told = { ...headers, 'Content-Type': 'application/partial-upload', 'Upload-Offset': String(offset) };
  const body = ['-X', 'PATCH', '-T', path === '-' ? '-' : path];
  const all = [...flags({ ...told, 'Upload-Complete': '?1' }), ...body, '-w', '%{http_code}', ...more, url];
  return curl(all);
}

/** Runs `curl -C -`, which goes on after what the file has. */
export const curlDown = (url: string, headers: Record<string, string>, path: string, more: string[] = []): Curl =>
  curl([...flags(headers), '-f', '-C', '-', '-o', path, ...more, url]);

export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
