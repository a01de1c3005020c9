import Type, { type Static } from 'typebox';
import { event } from '../vocabulary/event.ts';
import { DeviceId, orNull, Uuid } from '../vocabulary/fields.ts';
import { TARGET_RULE, targetFields } from './messages.ts';
import { route } from '../vocabulary/route.ts';

const SignalKind = Type.Enum(['offer', 'answer', 'candidate', 'bye']);

/** Any JSON. Only its size is checked. */
const Payload = Type.Unknown({ description: 'Any JSON, at most 16 KB.' });

export const SendSignal = Type.Object(
  { ...targetFields, transfer_id: Type.Optional(Uuid), kind: SignalKind, payload: Payload },
  {
    ...TARGET_RULE,
    description: 'With `transfer_id`, only the two parties of that transfer may signal each other.',
    examples: [{ to: 'Phone', kind: 'offer', payload: { type: 'offer', sdp: 'v=0' } }],
  },
);
export type SendSignal = Static<typeof SendSignal>;

export const IceServer = Type.Object({
  urls: Type.Array(Type.String()),
  username: Type.Optional(Type.String()),
  credential: Type.Optional(Type.String()),
});
export type IceServer = Static<typeof IceServer>;

export const signalRoutes = {
  sendSignal: route({
    method: 'POST',
    path: '/api/hub/signal',
    summary: 'Pass a WebRTC signal to a device of the account',
    device: 'required',
    rate: 'signal',
    notFound: 'The account has no such device, or no such transfer',
    body: SendSignal,
    answers: {
      202: Type.Object({ delivered: Type.Boolean({ description: 'Whether the device has a live stream.' }) }),
    },
    errors: ['not_found', 'name_taken', 'not_a_party', 'body_too_large'],
  }),
  getIceServers: route({
    method: 'GET',
    path: '/api/hub/ice',
    summary: 'STUN and TURN servers for a peer connection',
    device: 'required',
    rate: 'read',
    answers: { 200: Type.Object({ ice_servers: Type.Array(IceServer), ttl_seconds: Type.Integer() }) },
  }),
};

export const signalEvents = {
  signal: event({
    summary: 'A WebRTC signal from another device. It is not replayed when it is older than 60 s',
    data: Type.Object({
      from_device_id: DeviceId,
      from_name: Type.String(),
      transfer_id: orNull(Uuid),
      kind: SignalKind,
      payload: Payload,
    }),
    id: 'always',
  }),
};
