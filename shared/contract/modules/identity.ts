import Type, { type Static } from 'typebox';
import { LIMITS } from '../limits.ts';
import { DeviceRef, Origin, orNull, Scope, ServiceName, Text, UserId } from '../vocabulary/fields.ts';
import { route } from '../vocabulary/route.ts';

export const Me = Type.Object({
  user_id: UserId,
  name: Text,
  scope: Scope,
  roles: Type.Array(Type.String()),
  service: Type.Optional(ServiceName),
  origins: Type.Optional(
    Type.Array(Origin, {
      minItems: 1,
      maxItems: 1 + LIMITS.publicOrigins,
      description:
        'Every address of this installation, the public one first. A session belongs to these and to no other.',
    }),
  ),
  device: orNull(DeviceRef),
  limits: Type.Object({
    message_bytes: Type.Integer(),
    clipboard_bytes: Type.Integer(),
    clipboard_seconds: Type.Integer(),
    relay_window_bytes: Type.Integer(),
    sealed_message_bytes: Type.Optional(Type.Integer()),
    sealed_clipboard_bytes: Type.Optional(Type.Integer()),
  }),
  features: Type.Object({
    qr: Type.Boolean(),
    web_push: Type.Boolean(),
    native_push: Type.Boolean(),
    sealed: Type.Optional(Type.Boolean({ description: 'The service keeps rings, and passes on what devices seal.' })),
    relay_preferred: Type.Optional(
      Type.Boolean({ description: 'A sealed transfer may take the relay if the client measures that it is faster.' }),
    ),
  }),
});
export type Me = Static<typeof Me>;

export const identityRoutes = {
  getMe: route({
    method: 'GET',
    path: '/api/me',
    summary: 'Who the caller is',
    rate: 'read',
    answers: { 200: Me },
  }),
};
