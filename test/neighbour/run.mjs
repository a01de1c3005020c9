import { register } from 'node:module';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';

/*
 * `npm run test:neighbour`: one account does its worst on every route while another one goes on as always. The run measures and
 * judges what the other account sees. README.md says what is done and what is promised.
 */

requireNode();
installPackages();
process.env.APP_TEST_REDIS_SERVER = requireRedisServer('APP_REDIS_URL');
await buildOrExit();
// Node 20 does not run TypeScript. The packages are there by now, so the transpiler is available.
register('../chaos/typescript-hooks.mjs', import.meta.url);
const { runNeighbour } = await import('./neighbour.ts');
await runNeighbour(process.argv.slice(2));
