import { register } from 'node:module';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';

/*
 * `npm run test:chaos`: real replicas and a real store under a seeded schedule of faults, while many devices talk; then
 * the history of everything that was acknowledged and received is checked. README.md says what is asserted.
 */

requireNode();
installPackages();
// A run that only judges a history starts nothing.
const isCheck = process.argv.some((word) => /^--check(=|$)/.test(word));
const redisServer = isCheck ? '' : requireRedisServer('APP_REDIS_URL');
process.env.APP_TEST_REDIS_SERVER = redisServer;
if (!isCheck) await buildOrExit();
// Node 20 does not run TypeScript. The packages are there by now, so the transpiler is available.
register('./typescript-hooks.mjs', import.meta.url);
const { runChaos } = await import('./chaos.ts');
await runChaos({ argv: process.argv.slice(2), redisServer });
