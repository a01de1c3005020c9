import type { deviceRoutes } from '../../../shared/contract/modules/devices.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { Devices } from './devices.ts';

export const makeDeviceHandlers = (devices: Devices): HandlersOf<typeof deviceRoutes> => ({
  listDevices: async ({ caller }) => ({ status: 200, body: { devices: await devices.list(caller) } }),

  renameDevice: async ({ caller, params, body }) => ({
    status: 200,
    body: { device: await devices.rename(caller, params.device_id, body.name) },
  }),
});
