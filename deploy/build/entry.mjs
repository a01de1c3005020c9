import module, { createRequire } from 'node:module';

/*
 * Starts the service in main.cjs beside this file. From the second start on, Node 22.8 and newer use the compiled code
 * that V8 kept in a folder of the system (`NODE_COMPILE_CACHE` names another one). If that folder is not writable,
 * nothing is kept.
 */
module.enableCompileCache?.();
createRequire(import.meta.url)('./main.cjs');
