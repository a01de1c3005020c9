import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'undici';
import { type Commands, makeCommands } from './commands.ts';
import { removeProfile } from './remove-profile.ts';

const NAMES = ['firefox-esr', 'firefox'];

export const firefoxPath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** Firefox reaches nothing but this machine. Peer connections also use the machine's own addresses. */
const PREFERENCES = {
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 9,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 9,
  'network.proxy.allow_hijacking_localhost': false,
  'dom.push.connection.enabled': false,
  'media.peerconnection.ice.loopback': true,
  'media.peerconnection.ice.obfuscate_host_addresses': false,
  'intl.accept_languages': 'en',
};

/** A Firefox that is driven over WebDriver BiDi only by the commands given here. */
export interface BareFirefox extends Commands {
  /** The folder of its profile and its downloads, which goes with it. */
  readonly folder: string;
  stop(): Promise<void>;
}

async function connect(url: string): Promise<{ commands: Commands; close: () => void }> {
  const socket = new WebSocket(`${url}/session`);
  const { send, on, take, lose } = makeCommands((text) => socket.send(text));
  socket.addEventListener('message', ({ data }) => take(String(data)));
  socket.addEventListener('close', lose);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('Firefox cannot be driven')));
  });
  return { commands: { send, on }, close: () => socket.close() };
}

/**
 * Playwright cannot drive the Firefox of Debian beyond its start: it sends each new context a command that this version does
 * not know (emulation.setMediaFeaturesOverride).
 */
export async function launchBareFirefox(): Promise<BareFirefox> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-firefox-'));
  const lines = Object.entries(PREFERENCES).map(
    (one) => `user_pref(${one.map((part) => JSON.stringify(part)).join(', ')});`,
  );
  writeFileSync(join(folder, 'user.js'), lines.join('\n'));
  const child = spawn(
    firefoxPath as string,
    ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', folder],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: folder } },
  );
  const ended = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const [, found] = /BiDi listening on (ws:\S+)/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error('Firefox did not start')));
  });
  const { commands, close } = await connect(url);
  return {
    ...commands,
    folder,
    async stop() {
      close();
      if (child.exitCode === null) child.kill('SIGKILL');
      await ended;
      removeProfile(folder);
    },
  };
}
