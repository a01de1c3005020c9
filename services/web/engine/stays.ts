import type { BatonClient } from '../../../shared/client/index.ts';
import { type Shared, shared } from './shared-state.ts';

/**
 * Asks which devices are here as guests or for an hour, each time a device comes or goes. Only the list of sessions tells, and
 * guests may not read it. Its requests are counted with those of signing in, so a failed one is repeated only when the stream
 * is open again.
 */
export function watchStays(
  client: Pick<BatonClient, 'sessions' | 'state'>,
  tell: (part: Partial<Shared>) => void,
): void {
  let asked = '';
  let hasFailed = false;
  shared.subscribe(({ devices, listed, connection, me }) => {
    if (connection !== 'online') {
      if (hasFailed) asked = '';
      hasFailed = false;
      return;
    }
    // Another tab has the stream.
    if (client.state !== 'online') return;
    const ids = devices.map(({ device_id }) => device_id).join();
    if (listed !== 'now' || me?.scope !== 'full' || devices.length < 2 || ids === asked) return;
    asked = ids;
    client.sessions.list().then(
      ({ sessions, stale }) => {
        // A later request may be under way, and an old list does not know scopes.
        if (stale) hasFailed = true;
        if (ids !== asked || stale) return;
        const short = sessions.filter(({ scope, persist }) => scope === 'guest' || persist === 'once');
        const stays = short.map(({ device_id, scope, expires_at }) => [
          device_id,
          { isGuest: scope === 'guest', until: expires_at },
        ]);
        tell({ stays: Object.fromEntries(stays) });
      },
      () => {
        hasFailed = true;
      },
    );
  });
}
