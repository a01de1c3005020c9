import type { Announcing } from '../../../../shared/service-kit/redis/scripts/scripts.ts';
import { mayHaveRun } from '../../../../shared/service-kit/redis/faults.ts';
import type { Raw } from '../../../../shared/service-kit/redis/scripts/script-values.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Announcer } from './announcer.ts';

interface AnnouncingParts {
  announcer: () => Pick<Announcer, 'announce' | 'repeat' | 'notifyAccount'>;
  /** False in a cluster, because a script may not publish to a channel of another slot there. */
  publishInScript: boolean;
  /** Returns how often a connection to the store was lost so far; it rises while commands are under way. */
  losses: () => number;
  metrics: Pick<Metrics, 'events_published_total'>;
}

/** Passes what scripts announce to the announcer: what nobody heard, and what may have been lost with an answer. */
export function makeAnnouncing({ announcer, publishInScript, losses, metrics }: AnnouncingParts): Announcing {
  /**
   * Takes the announcements that a script returns behind its answer: what it announced, then what it leaves to its
   * caller.
   */
  function takeAnnouncements(reply: Raw[], key: string, wasCut: boolean): void {
    const said = reply.pop() as string | [string, string, string[]];
    const [heard, recalled, unheard]: readonly [string, string, string[]] =
      typeof said === 'string' ? [said, '0', []] : said;
    if (heard !== '')
      for (const event of heard.split('\n')) metrics.events_published_total.inc({ event, outcome: 'heard' });
    for (let i = 0; i < unheard.length; i += 3) {
      const announcement = {
        channel: unheard[i] as string,
        label: unheard[i + 1] as string,
        payload: unheard[i + 2] as string,
      };
      if (publishInScript) {
        metrics.events_published_total.inc({ event: announcement.label, outcome: 'unheard' });
        announcer().repeat(announcement);
      } else announcer().announce(announcement);
    }
    if (publishInScript) return;
    if (recalled === '1') announcer().notifyAccount(key, 'repeated');
    else if (wasCut) announcer().notifyAccount(key, 'cut');
  }

  return {
    publishInScript,
    losses,
    // A call whose answer was lost with its connection is made again. A script that had taken effect the first time
    // finds nothing to announce the second time.
    replied: (reply, key, lossesBefore) => takeAnnouncements(reply, key, losses() !== lossesBefore),
    // It is unknown whether the script took effect, so the account is notified as soon as that is possible. A script
    // that publishes itself announced in the same step in which it took effect.
    failed(error, key, lossesBefore) {
      const isUnknown = losses() !== lossesBefore || mayHaveRun(error);
      if (!publishInScript && isUnknown) announcer().notifyAccount(key, 'unknown');
    },
  };
}
