import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { constants, Script } from 'node:vm';
import { compiledOf } from './compiled.mjs';

/*
 * Starts a service as dist/services/<service>/main.js does, with the compiled code that an earlier start kept. With
 * `keep` it keeps its own compiled code when it ends. Usage: node compiled-main.mjs <service> [keep]
 */

const [service, keep] = process.argv.slice(2);
const { bundle, compiled } = compiledOf(service);
const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(bundle, 'utf8')}\n})`;
const script = new Script(source, {
  filename: bundle,
  // V8 refuses code that was compiled with other flags, and compiles as usual.
  ...(existsSync(compiled) && { cachedData: readFileSync(compiled) }),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
// At the end the script has compiled every function that a start needs.
if (keep === 'keep') process.on('exit', () => writeFileSync(compiled, script.createCachedData()));
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, dirname(bundle));
