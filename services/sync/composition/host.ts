import { hostname } from 'node:os';
import { makeLogger } from '../../../shared/service-kit/telemetry/logger.ts';
import { VERSION } from '../../../shared/service-kit/version.ts';
import { agreedSettingsOf, fingerprintOf } from '../config/agreed-settings.ts';
import type { Config } from '../config/config.ts';
import { makeMetrics } from '../telemetry/metrics.ts';

export function makeHost(config: Config) {
  const metrics = makeMetrics({ version: VERSION, settings: fingerprintOf(agreedSettingsOf(config)) });
  const logger = makeLogger({ level: config.logLevel, server: `${hostname()}:${config.http.port}` });
  for (const warning of config.warnings) logger.warn(warning);
  return {
    config,
    metrics,
    logger,
    /** Reports a failure of work that no request waits for. */
    onFailure(task: string, error: unknown): void {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal';
      metrics.background_failures_total.inc({ task, code });
      // The store itself reports why it cannot be used.
      const isStore = code === 'store_unavailable' || code === 'store_full';
      logger[isStore ? 'debug' : 'error']({ err: error, task, code }, 'background task failed');
    },
  };
}

export type Host = ReturnType<typeof makeHost>;
