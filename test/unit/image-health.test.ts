import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { skipUnless } from '../support/runner/skips.ts';

/* The health check of the image, as it runs beside a replica. */

const PROGRAM = fileURLToPath(new URL('../../deploy/image/health.mjs', import.meta.url));

const check = (env: Record<string, string>) =>
  promisify(execFile)(process.execPath, [PROGRAM], { env }).then(
    ({ stdout }) => stdout,
    (error: unknown) => `failed: ${(error as { stdout: string }).stdout}`,
  );

skipUnless(process.platform === 'linux', 'needs Linux').describe('the health check of the image', () => {
  let server: Server;
  let folder: string;
  const portOf = () => String((server.address() as AddressInfo).port);
  const fileOf = (text: string) => {
    writeFileSync(join(folder, 'setting'), `${text}\n`);
    return join(folder, 'setting');
  };

  async function listenOn(host: string) {
    server = createServer(({ url }, res) => res.end(url)).listen(0, host);
    await once(server, 'listening');
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-health-'));
  });

  afterEach(async () => {
    rmSync(folder, { recursive: true });
    server.close();
    await once(server, 'close');
  });

  test.each(['0.0.0.0', ''])('asks loopback when APP_HOST is %j', async (host) => {
    await listenOn('127.0.0.1');
    expect(await check({ APP_HOST: host, APP_ADMIN_PORT: portOf() })).toBe('200 /readyz\n');
  });

  test('asks the one address on which the service listens', async () => {
    await listenOn('127.0.0.2');
    expect(await check({ APP_HOST: '127.0.0.2', APP_ADMIN_PORT: portOf() })).toBe('200 /readyz\n');
    expect(await check({ APP_ADMIN_PORT: portOf() })).toMatch(/^failed: .*ECONNREFUSED/);
  });

  test('takes settings from files, as the service does', async () => {
    await listenOn('127.0.0.1');
    expect(await check({ APP_ADMIN_PORT_FILE: fileOf(portOf()) })).toBe('200 /readyz\n');
  });
});
