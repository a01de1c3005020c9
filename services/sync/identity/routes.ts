import type { DeviceRef } from '../../../shared/contract/vocabulary/fields.ts';
import type { identityRoutes, Me } from '../../../shared/contract/modules/identity.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { Caller } from './caller.ts';

interface IdentityHandlerParts {
  ownDevice: (caller: Caller) => Promise<DeviceRef | null>;
  clipboardSeconds: number;
  relayWindowBytes: number;
  /** What this installation serves. */
  features: Me['features'];
}

export const makeIdentityHandlers = ({
  ownDevice,
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
      device: await ownDevice(caller),
      limits: {
        message_bytes: LIMITS.messageBytes,
        clipboard_bytes: LIMITS.clipboardBytes,
        clipboard_seconds: clipboardSeconds,
        relay_window_bytes: relayWindowBytes,
      },
      features,
    },
  }),
});
