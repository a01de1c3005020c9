import { register } from 'node:module';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';

/*
 * `npm run test:simulate`: runs replicas in this process. A seed determines their time, randomness and network. README.md says
 * what is simulated and how a failure is replayed.
 */

requireNode();
installPackages();
const redisServer = requireRedisServer('APP_REDIS_URL');
// Node 20 does not run TypeScript. The packages are there by now, so the transpiler is available.
register('../chaos/typescript-hooks.mjs', import.meta.url);
const { installFakes } = await import('./world/fakes.ts');
// The fakes come before any code of a replica is loaded, because libraries keep some functions of the machine when they are
// loaded.
installFakes();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const { runSimulations } = await import('./simulate.ts');
await runSimulations({ argv: process.argv.slice(2), redisServer });
