import Type, { type Static } from 'typebox';
import { DeviceRef, orNull, Scope } from '../vocabulary/fields.ts';
import { route } from '../vocabulary/route.ts';

export const Me = Type.Object({
  user_id: Type.String(),
  name: Type.String(),
  scope: Scope,
  roles: Type.Array(Type.String()),
  device: orNull(DeviceRef),
  limits: Type.Object({
    message_bytes: Type.Integer(),
    clipboard_bytes: Type.Integer(),
    clipboard_seconds: Type.Integer(),
    relay_window_bytes: Type.Integer(),
  }),
  features: Type.Object({ qr: Type.Boolean(), web_push: Type.Boolean(), native_push: Type.Boolean() }),
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
