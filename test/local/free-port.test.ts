import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ListenOptions, Server } from 'node:net';
import { pickPort } from '../../deploy/local/setup/free-port.mjs';
import { skipUnless } from '../support/runner/skips.ts';

const { jest } = import.meta;

const MODULE = new URL('../../deploy/local/setup/free-port.mjs', import.meta.url).href;
/** No other test uses these ports, which are between those of the tests' stores and those of their cluster buses. */
const FIRST = 17_000 + (process.pid % 1_000) * 2;

skipUnless(process.platform === 'linux', 'needs Linux').describe('a port that another process was given', () => {
  test('is given to nobody else, also before anybody listens on it', async () => {
    const pick = `import { pickPort } from ${JSON.stringify(MODULE)};
      process.stdout.write(String(await pickPort({ first: ${FIRST}, count: 1 })));
      setInterval(() => {}, 1_000);`;
    const other = spawn(process.execPath, ['--input-type=module', '-e', pick], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(other, 'close');
    const [given] = (await once(other.stdout, 'data')) as [Buffer];
    expect(Number(String(given))).toBe(FIRST);
    const listened = jest.spyOn(Server.prototype, 'listen');
    jest.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.9);
    expect(await pickPort({ first: FIRST, count: 2 })).toBe(FIRST + 1);
    // A probe would keep the other process from listening at that moment.
    const probed = listened.mock.calls.map(([options]) => (options as ListenOptions).port).filter(Boolean);
    expect(probed).toEqual([FIRST + 1]);
    jest.restoreAllMocks();
    other.kill('SIGKILL');
    await exited;
  });
});
