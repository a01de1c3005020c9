import { register } from 'node:module';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';

/*
 * `npm run test:neighbour`: one account does its worst on every route while another one goes on as always; what the other
 * one sees of it is measured and judged. README.md says what is done and what is promised.
 */

requireNode();
installPackages();
process.env.APP_TEST_REDIS_SERVER = requireRedisServer('APP_REDIS_URL');
await buildOrExit();
// Node 20 runs no TypeScript: the packages are there now, so the transpiler can be had.
register('../chaos/typescript-hooks.mjs', import.meta.url);
const { runNeighbour } = await import('./neighbour.ts');
await runNeighbour(process.argv.slice(2));
