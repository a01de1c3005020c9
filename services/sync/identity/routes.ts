import type { DeviceRef } from '../../../shared/contract/vocabulary/fields.ts';
import type { identityRoutes, Me } from '../../../shared/contract/modules/identity.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { Caller } from './caller.ts';

interface IdentityHandlerParts {
  ownDevice: (caller: Caller) => Promise<DeviceRef | null>;
  /** The name of this installation, and its origins with the public one first. */
  service: string;
  origins: readonly string[];
  clipboardSeconds: number;
  relayWindowBytes: number;
  /** The features of this installation. */
  features: Me['features'];
}

export const makeIdentityHandlers = ({
  ownDevice,
  service,
  origins,
  clipboardSeconds,
  relayWindowBytes,
  features,
}: IdentityHandlerParts): HandlersOf<typeof identityRoutes> => ({
  getMe: async ({ caller }) => ({
    status: 200,
    body: {
      user_id: caller.userId,
      name: caller.name,
      scope: caller.scope,
      roles: [...caller.roles],
      service,
      origins: [...origins],
      device: await ownDevice(caller),
      limits: {
        message_bytes: LIMITS.messageBytes,
        clipboard_bytes: LIMITS.clipboardBytes,
        clipboard_seconds: clipboardSeconds,
        relay_window_bytes: relayWindowBytes,
        sealed_message_bytes: LIMITS.sealedMessageBytes,
        sealed_clipboard_bytes: LIMITS.sealedClipboardBytes,
      },
      features,
    },
  }),
});
