import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { startRedis } from '../../deploy/local/setup/redis.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';

/*
 * `npm run test:storm`: opens ten thousand streams over two replicas and kills one replica. Prints how soon all streams
 * are open on the other one and have what they missed, and what that cost it. Fails when that takes more than 10 s,
 * when something was lost, or when it cost too much. `--streams n`, `--processes n`, `--profile folder` (of the
 * replicas, by Node).
 */

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    processes: { type: 'string', default: '3' },
    profile: { type: 'string' },
  },
});

requireNode();
installPackages();
const redis = await startRedis({ path: requireRedisServer('APP_REDIS_URL'), detached: true });
process.on('exit', () => redis.kill());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
await buildOrExit();
register('../chaos/typescript-hooks.mjs', import.meta.url);
const { runStorm, shortcomingsOf } = await import('./storm.ts');
const { stopReplicas } = await import('../support/replicas.ts');
const figures = await runStorm({
  streams: Number(values.streams),
  processes: Number(values.processes),
  redisUrl: redis.url,
  keyPrefix: 'storm',
  nodeFlags: values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : [],
});
await stopReplicas();
await redis.stop();
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
const shortcomings = shortcomingsOf(figures);
process.stdout.write(
  [...shortcomings, `${shortcomings.length === 0 ? 1 : 0} passed, ${shortcomings.length} failed\n`].join('\n'),
);
process.exitCode = shortcomings.length === 0 ? 0 : 1;
