import type { Presence, presenceRoutes } from '../../../shared/contract/modules/presence.ts';
import type { HandlersOf } from '../http/handler.ts';

export const makePresenceHandlers = (
  snapshot: (account: string) => Promise<Presence>,
): HandlersOf<typeof presenceRoutes> => ({
  getPresence: async ({ caller }) => ({ status: 200, body: await snapshot(caller.account) }),
});
