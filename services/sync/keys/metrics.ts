import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

export const KEYS_METRICS = {
  keyring_writes_total: counter('Rings and lists of guests that took effect', ['what']),
  keyring_unsigned_total: counter('Changes of a keyring that no member signed'),
};
