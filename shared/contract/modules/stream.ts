import Type, { type Static } from 'typebox';
import { event } from '../vocabulary/event.ts';
import { DeviceRef, orNull, UnixMs } from '../vocabulary/fields.ts';
import { Presence } from './presence.ts';
import { route } from '../vocabulary/route.ts';

/** Why a stream starts at the present end of the log instead of where the client was. */
export const RESET_REASONS = ['new', 'expired', 'gap', 'store_lost'] as const;
export type ResetReason = (typeof RESET_REASONS)[number];

export const RECONNECT_REASONS = ['draining', 'rotate', 'slow', 'superseded', 'busy', 'store'] as const;
export type ReconnectReason = (typeof RECONNECT_REASONS)[number];

export const Ready = Type.Object({
  resumed: Type.Boolean(),
  reason: Type.Optional(Type.Enum([...RESET_REASONS])),
  device: orNull(DeviceRef),
  presence: Presence,
  clipboard: orNull(Type.Object({ updated_at: UnixMs, expires_at: UnixMs })),
  pending: Type.Object({ messages: Type.Integer(), transfers: Type.Integer() }),
  heartbeat_ms: Type.Integer(),
  server_id: Type.String(),
});
export type Ready = Static<typeof Ready>;

export const streamRoutes = {
  openStream: route({
    method: 'GET',
    path: '/api/hub/events',
    summary: 'The event stream of this device',
    sameOrigin: true,
    rate: 'stream',
    query: Type.Object({
      last_event_id: Type.Optional(
        Type.String({ maxLength: 4_096, description: 'The same as the header Last-Event-ID.' }),
      ),
      name: Type.Optional(
        Type.String({
          maxLength: 1_024,
          description:
            'The name of a caller without a device, which follows the rules of device names. For other callers it is ignored.',
          examples: ['Kitchen'],
        }),
      ),
    }),
    answers: { 200: 'text/event-stream' },
    errors: ['invalid_device_name', 'name_taken', 'device_required'],
  }),
};

export const streamEvents = {
  ready: event({
    summary:
      'The first event on every stream; repeated when the position was lost. With `resumed: false`, fetch your state again; the event then carries the new position as its id.',
    data: Ready,
    id: 'sometimes',
  }),
  reconnect: event({
    summary: 'The stream ends now; connect again after `retry_ms`. After `superseded`, do not reconnect automatically.',
    data: Type.Object({ reason: Type.Enum([...RECONNECT_REASONS]), retry_ms: Type.Integer() }),
    id: 'never',
  }),
  degraded: event({
    summary: 'The store is unreachable: nothing is delivered until `restored`',
    data: Type.Object({ reason: Type.Literal('store') }),
    id: 'never',
  }),
  restored: event({ summary: 'The store is back', data: Type.Object({ reason: Type.Literal('store') }), id: 'never' }),
  ping: event({
    summary:
      'Sent when nothing was written for the time of a heartbeat, or nothing that said how far the stream has come. The id is the position up to which the stream was served.',
    data: Type.Object({}),
    id: 'always',
  }),
};
