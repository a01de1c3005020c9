import { setTimeout as pause } from 'node:timers/promises';
import type { Presence } from '../../../shared/contract/modules/presence.ts';
import { frame } from '../streams/stream/frames.ts';
import type { AccountStreams, LocalStreams } from '../streams/local-streams.ts';
import type { Stream } from '../streams/stream/stream.ts';

interface PresenceBroadcastParts {
  streams: LocalStreams;
  readPresence: (account: string) => Promise<Presence>;
  onFailure: (account: string, error: unknown) => void;
}

/** The next snapshot waits for so long: a device that comes and goes in a loop must not cause one each time. */
const PAUSE_MS = 100;

/** Streams to which a newer presence can be written now; the others are brought up to date when they are live. */
const outdated = ({ streams, presenceVersion }: AccountStreams): Stream[] =>
  [...streams].filter((stream) => stream.lacksPresence(presenceVersion));

/** Writes a snapshot to each stream that has neither it nor a newer one already. */
export function sendPresence(streams: Iterable<Stream>, presence: Presence): void {
  let chunk: Buffer | null = null;
  for (const stream of streams) {
    if (!stream.lacksPresence(presence.version)) continue;
    chunk ??= frame('presence', JSON.stringify(presence));
    stream.sendPresence(presence.version, chunk);
  }
}

/**
 * Presence is a state, not a list of events: an announcement says only that there is a newer version. It is read once for
 * all streams of the account on this replica. However many announcements come meanwhile, or soon after, one more read
 * follows.
 */
export function makePresenceBroadcast({ streams, readPresence, onFailure }: PresenceBroadcastParts) {
  async function read(entry: AccountStreams): Promise<void> {
    const versionAtRead = entry.presenceVersion;
    const presence = await readPresence(entry.account);
    // What was read is true also when the store has lost the announced version since. One announced meanwhile stays due.
    if (entry.presenceVersion === versionAtRead) entry.presenceVersion = presence.version;
    sendPresence(outdated(entry), presence);
  }

  /** Sends the presence to the streams of an account that have an older version; `version`: what was announced. */
  return function broadcast(account: string, version = 0): void {
    const entry = streams.find(account);
    if (!entry) return;
    entry.presenceVersion = Math.max(entry.presenceVersion, version);
    if (entry.presenceReading || outdated(entry).length === 0) return;
    entry.presenceReading = true;
    read(entry)
      .then(() => pause(PAUSE_MS, undefined, { ref: false }))
      .finally(() => {
        entry.presenceReading = false;
      })
      .then(
        () => broadcast(account),
        (error: unknown) => onFailure(account, error),
      );
  };
}
