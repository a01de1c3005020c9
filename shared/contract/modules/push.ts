import Type, { type Static } from 'typebox';
import { DeviceId, orNull, UnixMs, Uuid } from '../vocabulary/fields.ts';
import { LIMITS } from '../limits.ts';
import { route } from '../vocabulary/route.ts';

/** The services that carry pushes to native applications. */
export const NATIVE_PLATFORMS = ['fcm', 'apns'] as const;
export type NativePlatform = (typeof NATIVE_PLATFORMS)[number];

/** The platform marker of a subscription. */
export const PUSH_PLATFORMS = ['web', ...NATIVE_PLATFORMS] as const;
export type PushPlatform = (typeof PUSH_PLATFORMS)[number];

/** The content of a web push besides number and kind: nothing, the sender, or also the text. */
export const PREVIEWS = ['none', 'sender', 'full'] as const;
export type Preview = (typeof PREVIEWS)[number];

const NativePlatformName = Type.Enum([...NATIVE_PLATFORMS]);
const Platform = Type.Enum([...PUSH_PLATFORMS]);

export const SubscribePush = Type.Object({
  endpoint: Type.String({ minLength: 1, maxLength: LIMITS.pushEndpointChars }),
  keys: Type.Object({
    p256dh: Type.String({ maxLength: 128, description: 'Uncompressed point on P-256, base64url.' }),
    auth: Type.String({ maxLength: 64, description: '16 bytes, base64url.' }),
  }),
  preview: Type.Optional(Type.Enum([...PREVIEWS], { description: 'Default `none`. Previews travel encrypted.' })),
  vapid_key_id: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The id of the key that the subscription was made with. The default is the present key.',
    }),
  ),
});
export type SubscribePush = Static<typeof SubscribePush>;

export const RegisterNativePush = Type.Object({
  platform: NativePlatformName,
  token: Type.String({
    minLength: 1,
    maxLength: LIMITS.pushTokenChars,
    pattern: '^[A-Za-z0-9_:.-]+$',
    description: 'As the platform gave it; for APNs, in hexadecimal.',
  }),
  environment: Type.Optional(
    Type.Enum(['production', 'sandbox'], {
      description: 'Only for APNs: the environment in which Apple gave the token. Default `production`.',
    }),
  ),
});
export type RegisterNativePush = Static<typeof RegisterNativePush>;

const Subscribed = Type.Object({ subscription_id: Uuid, platform: Platform });
export type Subscribed = Static<typeof Subscribed>;

export const PushSubscription = Type.Object({
  subscription_id: Uuid,
  device_id: DeviceId,
  platform: Platform,
  state: Type.Enum(['active', 'suspended'], {
    description: '`suspended`: the push service refused pushes lately; subscribing again may help.',
  }),
  created_at: UnixMs,
  last_ok_at: orNull(UnixMs),
});
export type PushSubscription = Static<typeof PushSubscription>;

/** The kind of a push (CONTRACT.md, "Pushes"). Without a preview a push contains only number and kind. */
export type PushKind = 'message' | 'transfer' | 'device' | 'test';

export const pushRoutes = {
  getPushConfig: route({
    method: 'GET',
    path: '/api/push/config',
    summary: 'The values that a device needs to subscribe to pushes',
    device: 'required',
    rate: 'read',
    answers: {
      200: Type.Object({
        vapid_public_key: orNull(Type.String()),
        vapid_key_id: orNull(Type.String()),
        native: Type.Array(NativePlatformName),
      }),
    },
    errors: ['feature_disabled'],
  }),
  subscribePush: route({
    method: 'POST',
    path: '/api/push/subscribe',
    summary: "Send this device's pushes to a web push endpoint",
    device: 'required',
    rate: 'push',
    body: SubscribePush,
    answers: { 201: Subscribed },
    errors: ['feature_disabled', 'endpoint_not_allowed'],
  }),
  registerNativePush: route({
    method: 'POST',
    path: '/api/push/native/register',
    summary: "Send this device's pushes to a native application",
    device: 'required',
    rate: 'push',
    body: RegisterNativePush,
    answers: { 201: Subscribed },
    errors: ['feature_disabled'],
  }),
  listPushSubscriptions: route({
    method: 'GET',
    path: '/api/push/subscriptions',
    summary: 'The subscriptions of the account; for a guest, only its own',
    device: 'required',
    rate: 'read',
    answers: { 200: Type.Object({ subscriptions: Type.Array(PushSubscription) }) },
    errors: ['feature_disabled'],
  }),
  removePushSubscription: route({
    method: 'DELETE',
    path: '/api/push/subscriptions/{subscription_id}',
    summary: 'Remove a subscription of the account; a guest can remove only its own',
    device: 'required',
    rate: 'removal',
    notFound: 'The account has no such push subscription',
    params: Type.Object({ subscription_id: Uuid }),
    answers: { 204: null },
    errors: ['feature_disabled', 'not_found'],
  }),
  testPush: route({
    method: 'POST',
    path: '/api/push/test',
    summary: 'Send a test notification to this device',
    device: 'required',
    rate: 'push_test',
    notFound: 'This device has no push subscription that works',
    answers: { 202: null },
    errors: ['feature_disabled', 'not_found'],
  }),
};
