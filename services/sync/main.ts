import { startApp } from './app.ts';
import { ConfigError } from '../../shared/service-kit/config/config-error.ts';
import { loadConfig } from './config/config.ts';

/** EX_CONFIG of sysexits.h: a supervisor need not try again with the same configuration. */
const EX_CONFIG = 78;

async function start(): Promise<void> {
  try {
    const app = await startApp(loadConfig());
    const stop = () => void app.stop().finally(() => process.connected && process.disconnect());
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    // A replica started by a script ends with it, even if the script was killed, or ended during the start.
    process.on('disconnect', stop);
    if (process.connected === false) stop();
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = EX_CONFIG;
    } else {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    }
    if (process.connected) process.disconnect();
  }
}

void start();
