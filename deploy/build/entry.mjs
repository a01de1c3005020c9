import module, { createRequire } from 'node:module';

/*
 * Starts the service in main.cjs beside this file. Node 22.8 and newer keep what V8 has compiled in a folder of the system
 * (`NODE_COMPILE_CACHE` names another one), from the second start on; where the folder cannot be written, nothing is kept.
 */
module.enableCompileCache?.();
createRequire(import.meta.url)('./main.cjs');
