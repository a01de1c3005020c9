import type { clipboardRoutes } from '../../../shared/contract/modules/clipboard.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { Clipboard } from './clipboard.ts';

/** Returns the one allowed header. Node joins repeated headers, and the joined name would be one that nobody sent. */
function deviceNameOf(headers: NodeJS.Dict<string[]>): string | undefined {
  const names = headers['x-device-name'] ?? [];
  if (names.length > 1) throw new BatonError('invalid_device_name');
  return names[0];
}

export const makeClipboardHandlers = (clipboard: Clipboard): HandlersOf<typeof clipboardRoutes> => ({
  getClipboard: async ({ caller }) => ({ status: 200, body: await clipboard.get(caller) }),

  setClipboard: async ({ caller, body, req }) => ({
    status: 200,
    body: await clipboard.set(caller, {
      content: body.content ?? '',
      sealed: body.sealed ?? null,
      contentType: body.content_type,
      deviceName: deviceNameOf(req.headersDistinct),
    }),
  }),

  clearClipboard: async ({ caller }) => {
    await clipboard.clear(caller);
    return { status: 204 };
  },
});
