import type { Target } from '../api.ts';

/** A target as requests name it. */
export const targetOf = (to: Target): { to: string } | { to_device_id: string } =>
  typeof to === 'string' ? { to } : { to_device_id: to.device_id };
