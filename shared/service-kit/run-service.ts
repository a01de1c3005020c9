import type { Logger } from 'pino';
import { ConfigError } from './config/config-error.ts';

/** EX_CONFIG of sysexits.h: a supervisor need not retry with the same configuration. */
const EX_CONFIG = 78;

/** How long after its stop a service may still have something open. */
const STILL_OPEN_MS = 5_000;

interface Service {
  readonly logger: Logger;
  /** Resolves when nothing is left. Repeated calls share one stop. */
  stop(): Promise<void>;
}

/** Stops a service, and ends the process even if a fault has left something open that would keep it. */
async function end(service: Service): Promise<void> {
  await service.stop();
  if (process.connected) process.disconnect();
  // This timer does not keep the process, so it only runs if something else does.
  setTimeout(() => {
    service.logger.warn({ open: process.getActiveResourcesInfo() }, 'something is still open after the stop');
    process.exit();
  }, STILL_OPEN_MS).unref();
}

/**
 * Runs a service in this process until SIGTERM or SIGINT, or until the script that started it has ended, even if that was
 * killed. A failed start is reported on stderr. The exit code is then 78 if the configuration is the cause, else 1.
 */
export async function runService(start: () => Promise<Service>): Promise<void> {
  try {
    const service = await start();
    const stop = () => void end(service);
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    process.on('disconnect', stop);
    // The script may have ended during the start.
    if (process.connected === false) stop();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof ConfigError ? EX_CONFIG : 1;
    if (process.connected) process.disconnect();
  }
}
