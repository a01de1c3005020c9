import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { constants, Script } from 'node:vm';

/*
 * Starts the service that main.cjs beside this file is. What V8 has compiled of it lies in main.cache, from the build: a replica
 * listens after 0.37 s of a processor with it, after 0.56 s without. V8 refuses what another version made, or one with other flags
 * (those of the heap, as in the image), and compiles anew. Where stacks are mapped to the sources, Node has to load the file itself.
 * `--write-cache`: what was compiled until the process ended is written there.
 */
const path = fileURLToPath(new URL('main.cjs', import.meta.url));
const cachePath = fileURLToPath(new URL('main.cache', import.meta.url));
const isWriting = process.argv.includes('--write-cache');
const require = createRequire(import.meta.url);

/*
 * V8 makes objects in the old generation where most of one place's have survived a collection, as those of the first streams do, and
 * keeps to it. What a request makes there is garbage at once, and keeps alive what it refers to until the next full collection:
 * 1.9 KB a message grew old, 0.2 without; a message takes 0.92 of the processor, a collection of the young generation half the time.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

const DIGEST_BYTES = 20;
/** V8 compares the length of a source and not its text. */
const digestOf = (code) => createHash('sha1').update(code).digest();

/** What was compiled of `code`; undefined where it was of another one. */
function readCache(code) {
  const cache = readFileSync(cachePath);
  return cache.subarray(0, DIGEST_BYTES).equals(digestOf(code)) ? cache.subarray(DIGEST_BYTES) : undefined;
}

function runCompiled() {
  const code = readFileSync(path);
  const script = new Script(`(function (require, module, exports, __filename, __dirname) {${code.toString()}\n})`, {
    filename: path,
    cachedData: isWriting ? undefined : readCache(code),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (isWriting)
    process.once('exit', () => writeFileSync(cachePath, Buffer.concat([digestOf(code), script.createCachedData()])));
  const module = { exports: {} };
  script.runInThisContext()(require, module, module.exports, path, dirname(path));
}

if (isWriting || (existsSync(cachePath) && !process.sourceMapsEnabled)) runCompiled();
else require(path);
