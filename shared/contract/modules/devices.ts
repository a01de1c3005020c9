import Type, { type Static } from 'typebox';
import { event } from '../vocabulary/event.ts';
import {
  DeviceId,
  DeviceName,
  DeviceNameInput,
  DeviceRef,
  DeviceType,
  NO_DEVICE,
  orNull,
  UnixMs,
} from '../vocabulary/fields.ts';
import { route } from '../vocabulary/route.ts';

export const Device = Type.Object({
  device_id: DeviceId,
  name: DeviceName,
  type: DeviceType,
  online: Type.Boolean(),
  current: Type.Boolean({ description: "True for the caller's own device." }),
  created_at: UnixMs,
  last_seen_at: orNull(UnixMs),
});
export type Device = Static<typeof Device>;

export const deviceRoutes = {
  listDevices: route({
    method: 'GET',
    path: '/api/devices',
    summary: 'The devices of the account',
    rate: 'read',
    answers: { 200: Type.Object({ devices: Type.Array(Device) }) },
  }),
  renameDevice: route({
    method: 'PATCH',
    path: '/api/devices/{device_id}',
    summary: 'Rename a device; its session, token and stream stay as they are',
    device: 'required',
    scope: 'own',
    rate: 'rename',
    notFound: NO_DEVICE,
    params: Type.Object({ device_id: DeviceId }),
    body: Type.Object({ name: DeviceNameInput }),
    answers: { 200: Type.Object({ device: Device }) },
    errors: ['invalid_device_name', 'name_taken', 'not_found'],
  }),
};

export const deviceEvents = {
  'device:added': event({
    summary: 'A device joined the account; sent to every other device',
    data: Type.Object({ device: DeviceRef }),
    id: 'always',
  }),
  'device:renamed': event({
    summary: 'A device has a new name',
    data: Type.Object({ device: DeviceRef }),
    id: 'always',
  }),
};
