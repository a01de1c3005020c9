import { setImmediate as nextTurn } from 'node:timers/promises';

/*
 * Preloaded into every server that is measured (`node --expose-gc --import`), so that all kinds are measured from
 * inside in the same way. It answers `{ probe: 'usage' | 'settle' }` over the process's channel.
 */

/** Weak references and finalizers need more than one collection. */
const COLLECTIONS = 4;

async function collect() {
  for (let i = 0; i < COLLECTIONS; i += 1) {
    globalThis.gc();
    await nextTurn();
  }
}

process.on('message', async ({ probe } = {}) => {
  if (probe === undefined) return;
  if (probe === 'settle') await collect();
  const { user, system } = process.cpuUsage();
  process.send({ usage: { cpuMicros: user + system, ...process.memoryUsage() } });
});
// The channel alone must not keep alive a server that was asked to end.
process.channel?.unref();
