import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A device that consists of the program `curl` and a file of cookies. It knows nothing of keys. */
export interface Curl {
  /** Makes a request. Returns its JSON, or null without a body. Throws if the service refuses it. */
  ask(path: string, ...options: string[]): Promise<unknown>;
  /** Sends this as JSON. */
  send(method: 'POST' | 'PUT', path: string, body: object): Promise<unknown>;
}

/** Signs a device in with `curl`. `headers` are those of a person who has just logged in. */
export async function startCurl(
  { url, jar, headers }: { url: string; jar: string; headers: { Cookie: string } },
  name: string,
): Promise<Curl> {
  async function ask(path: string, ...options: string[]): Promise<unknown> {
    const own = ['-b', jar, '-H', 'Sec-Fetch-Site: same-origin'];
    const { stdout } = await run('curl', ['-sS', '--fail-with-body', ...own, ...options, `${url}${path}`]);
    return stdout === '' ? null : JSON.parse(stdout);
  }
  const send: Curl['send'] = (method, path, body) => ask(path, '-X', method, '--json', JSON.stringify(body));
  const device = { device_id: crypto.randomUUID(), device_name: name, device_type: 'shortcut' };
  const login = ['-b', headers.Cookie, '-c', jar, '--json', JSON.stringify(device)];
  await run('curl', [
    ...['-sS', '--fail-with-body', '-H', 'Sec-Fetch-Site: same-origin'],
    ...login,
    `${url}/api/auth/device-session`,
  ]);
  return { ask, send };
}
