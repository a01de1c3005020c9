import { totalmem } from 'node:os';
import { lackingFlags } from './heap-flags.mjs';

/*
 * Gives this process the heap of its container, before anything else is loaded, whatever started it: `docker run`, Compose, a
 * chart, with NODE_OPTIONS of its own or without. V8 takes them only from its command line, so the process is replaced by
 * itself with them (same pid, same descriptors). What the command line or NODE_OPTIONS already say is left as it is.
 */

/** What the kernel lets this container take, in bytes; null where nothing limits it. */
function memoryLimit() {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : null;
}

const { argv, env, execArgv, execPath } = process;
const flags = lackingFlags(memoryLimit(), [...execArgv, ...(env.NODE_OPTIONS ?? '').split(/\s+/)]);
// Not with a channel to a parent, which would break, and not on a Node that cannot: those have the heap that Node gives them.
if (flags.length > 0 && process.channel === undefined && typeof process.execve === 'function') {
  process.execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], env);
}
process.setSourceMapsEnabled(true);
