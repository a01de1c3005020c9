import type { PushQueue } from '../push/push-queue.ts';
import type { Db } from '../redis/db.ts';
import { makeDevices } from './devices.ts';
import { makeDeviceHandlers } from './routes.ts';
import { makeDeviceStore } from './store.ts';

type DeviceStoreParts = Parameters<typeof makeDeviceStore>[0];

interface DevicesModuleParts {
  db: Db;
  pushQueue: PushQueue;
  readPresence: DeviceStoreParts['readPresence'];
}

export function makeDevicesModule({ db, pushQueue, readPresence }: DevicesModuleParts) {
  const devices = makeDevices(makeDeviceStore({ ...db, readPresence, pushQueue }));
  return { devices, handlers: makeDeviceHandlers(devices) };
}
