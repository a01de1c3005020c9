import type { BatonClient } from '../../../shared/client/index.ts';
import { type Shared, shared } from './shared-state.ts';

/**
 * Asks which devices are here as guests or for an hour, each time a device comes or goes and when the stream is open again.
 * Only the list of sessions tells, and guests may not read it.
 */
export function watchStays(client: Pick<BatonClient, 'sessions'>, tell: (part: Partial<Shared>) => void): void {
  let asked = '';
  shared.subscribe(({ devices, listed, connection, me }) => {
    const isAsking = connection === 'online' && listed === 'now' && me?.scope === 'full' && devices.length > 1;
    const now = isAsking ? devices.map(({ device_id }) => device_id).join() : '';
    if (now === asked) return;
    asked = now;
    if (now === '') return;
    client.sessions.list().then(
      ({ sessions, stale }) => {
        // A later request may be under way, and an old list does not know scopes.
        if (now !== asked || stale) return;
        const short = sessions.filter(({ scope, persist }) => scope === 'guest' || persist === 'once');
        const stays = short.map(({ device_id, scope, expires_at }) => [
          device_id,
          { isGuest: scope === 'guest', until: expires_at },
        ]);
        tell({ stays: Object.fromEntries(stays) });
      },
      () => {
        // The next change asks again.
        asked = '';
      },
    );
  });
}
