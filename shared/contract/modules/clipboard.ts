import Type, { type Static } from 'typebox';
import { event } from '../vocabulary/event.ts';
import { DeviceId, DeviceNameInput, orNull, UnixMs } from '../vocabulary/fields.ts';
import { LIMITS } from '../limits.ts';
import { SealedClipboard } from '../vocabulary/sealed.ts';
import { CONTENT_RULE } from './messages.ts';
import { route } from '../vocabulary/route.ts';

/** The clipboard. When it is empty, `content` is `""` and the rest null. */
export const ClipboardEntry = Type.Object({
  content: Type.String({ description: 'Empty if the content is sealed.' }),
  sealed: Type.Optional(Type.String({ description: 'Base64url. Only devices can open it.' })),
  content_type: orNull(Type.Literal('text/plain')),
  source_device_id: orNull(DeviceId),
  source_device_name: orNull(Type.String()),
  updated_at: orNull(UnixMs),
  expires_at: orNull(UnixMs),
});
export type ClipboardEntry = Static<typeof ClipboardEntry>;

/** Any text. A type other than plain text is refused with a code of its own. */
export const ClipboardType = Type.String({ description: 'Only plain text is kept.' });

export const SetClipboard = Type.Object(
  {
    content: Type.Optional(Type.String({ description: 'Plain text, at most 65,536 bytes of UTF-8.' })),
    sealed: Type.Optional(SealedClipboard),
    content_type: ClipboardType,
  },
  { ...CONTENT_RULE, examples: [{ content: 'https://example.com/', content_type: 'text/plain' }] },
);

export const clipboardRoutes = {
  getClipboard: route({
    method: 'GET',
    path: '/api/clipboard',
    summary: 'The clipboard of the account',
    rate: 'read',
    answers: { 200: ClipboardEntry },
  }),
  setClipboard: route({
    method: 'PUT',
    path: '/api/clipboard',
    summary: 'Replace the clipboard',
    headers: {
      'X-Device-Name': {
        description: 'Shown as the name of the writer, instead of its own name.',
        schema: DeviceNameInput,
      },
    },
    rate: 'clipboard',
    body: SetClipboard,
    bodyLimitBytes: LIMITS.clipboardBodyBytes,
    answers: { 200: ClipboardEntry },
    errors: ['clipboard_too_large', 'unsupported_media_type', 'invalid_device_name', 'device_required'],
  }),
  clearClipboard: route({
    method: 'DELETE',
    path: '/api/clipboard',
    summary: 'Clear the clipboard',
    rate: 'clipboard_clear',
    answers: { 204: null },
  }),
};

export const clipboardEvents = {
  clipboard: event({
    summary: 'The clipboard changed: fetch it. The content is never in an event.',
    data: Type.Object({
      source_device_id: orNull(DeviceId),
      source_device_name: Type.String(),
      updated_at: UnixMs,
      expires_at: UnixMs,
      bytes: Type.Integer(),
    }),
    id: 'always',
  }),
  'clipboard:cleared': event({ summary: 'The clipboard is empty', data: Type.Object({}), id: 'always' }),
};
