import Type, { type Static } from 'typebox';
import { event } from '../vocabulary/event.ts';
import { DeviceId, DeviceName, DeviceType, orNull, UnixMs } from '../vocabulary/fields.ts';
import { route } from '../vocabulary/route.ts';

/** A live-only entry (a stream without a device) has neither id nor type nor `last_seen_at`. */
export const PresenceEntry = Type.Object({
  device_id: orNull(DeviceId),
  name: DeviceName,
  type: orNull(DeviceType),
  online: Type.Boolean(),
  last_seen_at: orNull(UnixMs),
});
export type PresenceEntry = Static<typeof PresenceEntry>;

/** The presence of the whole account. A snapshot with a lower version than one already seen is stale. */
export const Presence = Type.Object({ version: Type.Integer(), devices: Type.Array(PresenceEntry) });
export type Presence = Static<typeof Presence>;

export const presenceRoutes = {
  getPresence: route({
    method: 'GET',
    path: '/api/hub/presence',
    summary: 'The devices of the account and whether they are online',
    rate: 'read',
    answers: { 200: Presence },
  }),
};

export const presenceEvents = {
  presence: event({
    summary:
      'The presence of the whole account, sent when a device connects and at every change. Drop a version that is older than one already seen.',
    data: Presence,
    id: 'never',
  }),
};
