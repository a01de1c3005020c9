import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { makeDevice, randomUser } from '../support/device.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { startReplica, stopReplicas } from '../support/replicas.ts';
import { skipUnless } from '../support/runner/skips.ts';

const SECRET = 'a-secret-of-this-test-only';
const hasTurn = spawnSync('turnserver', ['--version']).error === undefined;
const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };

afterEach(stopReplicas);

test('without STUN and TURN configured the list is empty', async () => {
  const replica = await startReplica(options);

  const { body } = await makeDevice({ user: randomUser() }).on(replica).call('getIceServers');

  expect(body).toEqual({ ice_servers: [], ttl_seconds: 3_600 });
});

test('each device gets TURN credentials of its own that end within the hour', async () => {
  const env = {
    APP_STUN_URLS: 'stun:stun.example:3478',
    APP_TURN_URLS: 'turn:turn.example:3478?transport=udp,turns:turn.example:5349',
    APP_TURN_SECRET: SECRET,
  };
  const replica = await startReplica({ ...options, env });
  const device = makeDevice({ user: randomUser() });

  const { body } = await device.on(replica).call('getIceServers');

  const [stun, turn] = body.ice_servers;
  expect(stun).toEqual({ urls: ['stun:stun.example:3478'] });
  expect(turn?.urls).toEqual(['turn:turn.example:3478?transport=udp', 'turns:turn.example:5349']);
  expect(turn?.username).toMatch(new RegExp(`^\\d{10}:${device.id}$`));
  const endsInSeconds = Number(turn?.username?.split(':')[0]) - Date.now() / 1_000;
  expect(endsInSeconds).toBeGreaterThan(3_500);
  expect(endsInSeconds).toBeLessThanOrEqual(3_600);
});

async function startTurn(port: number): Promise<ChildProcess> {
  const child = spawn(
    'turnserver',
    [
      ...[
        '-n',
        '--listening-ip=127.0.0.1',
        '--relay-ip=127.0.0.1',
        `--listening-port=${port}`,
        '--no-tls',
        '--no-dtls',
      ],
      ...['--use-auth-secret', `--static-auth-secret=${SECRET}`, '--realm=baton.test', '--no-cli', '--log-file=stdout'],
      ...['--allow-loopback-peers', '--pidfile=/dev/null'],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.once('close', () => reject(new Error(`turnserver ended:\n${log}`)));
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        if (log.includes('Total General servers')) resolve();
      });
    }
  });
  return child;
}

/** Returns whether coturn's own client gets its packets through with this user and password. */
const passes = (port: number, username: string, password: string): boolean => {
  const args = ['-u', username, '-w', password, '-p', String(port), '-y', '-c', '-n', '2', '127.0.0.1'];
  const { stdout } = spawnSync('turnutils_uclient', args, { timeout: 20_000 });

  return /start_mclient: tot_send_msgs=([1-9]\d*), tot_recv_msgs=\1\b/.test(String(stdout));
};

const withTurn = skipUnless(hasTurn, 'needs coturn');

withTurn.describe('a real TURN server', () => {
  test('takes the credentials, and no others', async () => {
    const port = await freePort();
    const turn = await startTurn(port);
    const env = { APP_TURN_URLS: `turn:127.0.0.1:${port}`, APP_TURN_SECRET: SECRET };
    const replica = await startReplica({ ...options, env });
    const { body } = await makeDevice({ user: randomUser() }).on(replica).call('getIceServers');
    const [{ username = '', credential = '' } = {}] = body.ice_servers;

    const withOurs = passes(port, username, credential);
    const withOthers = passes(port, username, `${credential}x`);
    const ended = once(turn, 'close');
    turn.kill('SIGKILL');
    await ended;

    expect({ withOurs, withOthers }).toEqual({ withOurs: true, withOthers: false });
  });
});
