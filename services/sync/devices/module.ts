import type { Redis } from '../../server/redis/connections.ts';
import type { ScriptLoader } from '../../server/redis/scripts/scripts.ts';
import type { EnqueuePushes } from '../push/push-queue.ts';
import type { Keys } from '../redis/keys.ts';
import { makeDevices } from './devices.ts';
import { makeDeviceHandlers } from './routes.ts';
import { makeDeviceStore } from './store.ts';

type DeviceStoreParts = Parameters<typeof makeDeviceStore>[0];

interface DevicesModuleParts {
  db: { redis: Redis; scripts: ScriptLoader; keys: Keys };
  /** Renames a minute per account; null: unlimited. */
  renameLimit: number | null;
  enqueuePushes: EnqueuePushes;
  readPresence: DeviceStoreParts['readPresence'];
}

/** The parts of this module, put together. */
export function makeDevicesModule({ db, renameLimit, enqueuePushes, readPresence }: DevicesModuleParts) {
  const devices = makeDevices({ store: makeDeviceStore({ ...db, renameLimit, readPresence }), enqueuePushes });
  return { devices, handlers: makeDeviceHandlers(devices) };
}
