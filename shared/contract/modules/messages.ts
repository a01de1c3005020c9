import Type, { type Static } from 'typebox';
import { event } from '../vocabulary/event.ts';
import { DeviceId, DeviceName, NO_DEVICE, orNull, UnixMs, Uuid } from '../vocabulary/fields.ts';
import { LIMITS } from '../limits.ts';
import { SealedMessage } from '../vocabulary/sealed.ts';
import { route } from '../vocabulary/route.ts';

/** Names a target by exactly one of device name and device id. */
export const TARGET_RULE = { oneOf: [{ required: ['to'] }, { required: ['to_device_id'] }] };

/** Requires either plain or sealed content. */
export const CONTENT_RULE = { oneOf: [{ required: ['content'] }, { required: ['sealed'] }] };

export const targetFields = {
  to: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LIMITS.deviceNameChars,
      description:
        'Device name: the exact one, else the one that differs only by case or spaces. If several do, the answer is 409 `name_taken`.',
    }),
  ),
  to_device_id: Type.Optional(DeviceId),
};

/** Any text. The rules of messages refuse it with codes of their own. */
export const MessageText = Type.String({ description: '1 to 4,096 bytes of UTF-8, not all of them spaces.' });

export const SendMessage = Type.Object(
  {
    ...targetFields,
    content: Type.Optional(MessageText),
    sealed: Type.Optional(SealedMessage),
  },
  {
    allOf: [TARGET_RULE, CONTENT_RULE],
    description: '`to: "*"` sends to all other devices of the account. The content is either plain or sealed.',
    examples: [{ to: 'Phone', content: 'On my way' }],
  },
);
export type SendMessage = Static<typeof SendMessage>;

const MessageTarget = Type.Object({
  device_id: orNull(DeviceId),
  name: DeviceName,
  online: Type.Boolean({ description: 'Whether the device has a live stream at this moment.' }),
  pushed: Type.Boolean({ description: 'Whether a push is queued.' }),
  error: Type.Optional(Type.Literal('mailbox_full')),
});
export type MessageTarget = Static<typeof MessageTarget>;

export const MessageAccepted = Type.Object({
  message_id: Uuid,
  to: Type.Array(MessageTarget),
  created_at: UnixMs,
});
export type MessageAccepted = Static<typeof MessageAccepted>;

export const Message = Type.Object({
  message_id: Uuid,
  from_device_id: orNull(DeviceId),
  from_name: Type.String(),
  content: Type.String({ description: 'Empty if the message is sealed.', examples: ['On my way'] }),
  sealed: Type.Optional(Type.String({ description: 'Base64url. Only devices can open it.' })),
  created_at: UnixMs,
  redelivered: Type.Boolean(),
});
export const messageRoutes = {
  sendMessage: route({
    method: 'POST',
    path: '/api/message',
    summary: 'Send a short text to a device',
    rate: 'message',
    notFound: NO_DEVICE,
    idempotent: true,
    body: SendMessage,
    // 202: accepted and delivered, but fewer replicas of the store have it than the installation requires. The same
    // Idempotency-Key gets the same message, with 201 when they have it.
    answers: { 201: MessageAccepted, 202: MessageAccepted },
    errors: ['empty_message', 'message_too_large', 'not_found', 'name_taken', 'mailbox_full', 'device_required'],
  }),
  listMessages: route({
    method: 'GET',
    path: '/api/message',
    summary: "The caller's unacknowledged messages, oldest first",
    rate: 'read',
    answers: { 200: Type.Object({ messages: Type.Array(Message) }) },
    errors: ['device_required'],
  }),
  ackMessages: route({
    method: 'POST',
    path: '/api/message/ack',
    summary: 'Acknowledge messages: they leave the mailbox and their senders are told',
    rate: 'ack',
    body: Type.Object({ message_ids: Type.Array(Uuid, { maxItems: LIMITS.ackIds }) }),
    answers: { 200: Type.Object({ acked: Type.Integer() }) },
    errors: ['device_required'],
  }),
};

export const messageEvents = {
  message: event({
    summary:
      'A message for this device. Until it is acknowledged, it is repeated after each `ready`, with `redelivered` and without an id.',
    data: Message,
    id: 'sometimes',
  }),
  'message:delivered': event({
    summary: 'A device acknowledged messages of this sender',
    data: Type.Object({
      message_ids: Type.Array(Uuid),
      by_device_id: DeviceId,
      by_name: DeviceName,
      at: UnixMs,
    }),
    id: 'always',
  }),
};
