import type { Presence } from '../../../shared/contract/modules/presence.ts';
import { frame } from '../streams/stream/frames.ts';
import { presenceView, type PresenceFields } from './presence-view.ts';
import type { AccountStreams, LocalStreams } from '../streams/local-streams.ts';
import type { Stream } from '../streams/stream/stream.ts';

interface PresenceBroadcastParts {
  streams: LocalStreams;
  readPresence: (account: string) => Promise<Presence>;
  onFailure: (account: string, error: unknown) => void;
}

/** How long the next snapshot waits, so that a device that comes and goes in a loop does not cause one each time. */
const PAUSE_MS = 100;

/**
 * Returns whether a newer presence can be written to a stream now. Other streams are brought up to date when they are
 * live.
 */
function isOutdated({ streams, presenceVersion }: AccountStreams): boolean {
  for (const stream of streams) if (stream.lacksPresence(presenceVersion)) return true;
  return false;
}

/** Writes a snapshot to each stream that has an older one. */
export function sendPresence(streams: Iterable<Stream>, presence: Presence): void {
  let chunk: Buffer | null = null;
  for (const stream of streams) {
    if (!stream.lacksPresence(presence.version)) continue;
    chunk ??= frame('presence', JSON.stringify(presence));
    stream.sendPresence(presence.version, chunk);
  }
}

/**
 * Sends the presence to the streams of an account that have an older version. `version`: the announced one; `snapshot`:
 * its rows and states as JSON, '' when they were not included.
 */
export type Broadcast = (account: string, version?: number, snapshot?: string) => void;

/**
 * Makes the broadcast of presence. Presence is a state, not a list of events: an announcement says that there is a
 * newer version. If it does not carry the snapshot, as for an account with many devices, the snapshot is read once for
 * all streams of the account on this replica. However many announcements come meanwhile, or soon after, one read
 * follows.
 */
export function makePresenceBroadcast({ streams, readPresence, onFailure }: PresenceBroadcastParts) {
  async function read(entry: AccountStreams): Promise<void> {
    const versionAtRead = entry.presenceVersion;
    const presence = await readPresence(entry.account);
    // The snapshot is true even if the store has lost the announced version since. A version that was announced
    // meanwhile stays due.
    if (entry.presenceVersion === versionAtRead) entry.presenceVersion = presence.version;
    sendPresence(entry.streams, presence);
  }

  /**
   * Takes an announcement. If its version is not the newest, as after a failover, only the store knows what is true.
   */
  async function take(entry: AccountStreams, version: number, snapshot: string): Promise<void> {
    if (snapshot === '' || version !== entry.presenceVersion) return read(entry);
    sendPresence(entry.streams, presenceView(JSON.parse(snapshot) as PresenceFields));
  }

  function pause(entry: AccountStreams): void {
    const timer = setTimeout(() => {
      entry.presenceReading = false;
      broadcast(entry.account);
    }, PAUSE_MS);
    timer.unref();
  }

  const broadcast: Broadcast = (account, version = 0, snapshot = '') => {
    const entry = streams.find(account);
    if (!entry) return;
    entry.presenceVersion = Math.max(entry.presenceVersion, version);
    if (entry.presenceReading || !isOutdated(entry)) return;
    entry.presenceReading = true;
    take(entry, version, snapshot).then(
      () => pause(entry),
      (error: unknown) => {
        entry.presenceReading = false;
        onFailure(account, error);
      },
    );
  };
  return broadcast;
}
