import { ConfigError } from '../../shared/service-kit/config/config-error.ts';
import { startBroker } from './app.ts';
import { loadConfig } from './config/config.ts';

/** EX_CONFIG of sysexits.h: a supervisor need not retry with the same configuration. */
const EX_CONFIG = 78;

async function start(): Promise<void> {
  try {
    const broker = await startBroker(loadConfig());
    const stop = () => void broker.stop().finally(() => process.connected && process.disconnect());
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    // A broker that a script started ends with the script, even if the script was killed, or ended during the start.
    process.on('disconnect', stop);
    if (process.connected === false) stop();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof ConfigError ? EX_CONFIG : 1;
    if (process.connected) process.disconnect();
  }
}

void start();
