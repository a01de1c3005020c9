import { register } from 'node:module';
import { installPackages, requireNode } from '../../deploy/local/setup/setup.mjs';

/*
 * `npm run test:mutants`: puts each fault of mutants.ts into a copy of the tree, runs seeds there until one finds it, and
 * prints a table with the seed and the time. Further arguments choose faults by a part of their title. `--minutes` (10) limits
 * the time for each.
 */

requireNode();
installPackages();
// Node 20 does not run TypeScript. The packages are there by now, so the transpiler is available.
register('../chaos/typescript-hooks.mjs', import.meta.url);
const { findMutants } = await import('./find-mutants.ts');
process.exitCode = await findMutants(process.argv.slice(2));
