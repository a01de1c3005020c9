import { createHmac } from 'node:crypto';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import type { PushKind } from '../../../../shared/contract/modules/push.ts';
import type { PushJob } from './jobs.ts';
import type { PushNotice } from '../sender.ts';
import type { Taken } from '../store.ts';

interface NoticeParts {
  /** A secret of this installation: push services see topics, and must not learn from them who writes to whom. */
  topicSecret: string;
  /** How long a transfer that nobody accepted is announced again. */
  transferSeconds: number;
}

/**
 * Returns the preview: sender and text of the newest message, the sender of an offer, or the name of a new device. A push
 * for a sealed message carries only its id: the device fetches and opens the message, and makes the preview itself.
 */
function previewOf({ registration: { preview }, message }: Taken): PushNotice['preview'] {
  if (message === '' || preview === 'none') return null;
  const said = JSON.parse(`${message}}`) as { from_name: string; content?: string; sealed?: string };
  const { from_name: from, content: text, sealed } = said;
  if (sealed !== undefined) return null;
  return preview === 'full' && text !== undefined ? { from, text } : { from };
}

/** Makes the notices of pushes, and decides for how long a push is worth sending. */
export function makeNotices({ topicSecret, transferSeconds }: NoticeParts) {
  /** How long a push is worth sending. */
  const secondsOf: Readonly<Record<PushKind, number>> = {
    message: LIMITS.pushSeconds,
    transfer: transferSeconds,
    device: LIMITS.pushSeconds,
    test: 300,
  };

  /** Returns one topic for pushes that replace each other. 24 bytes are the 32 characters of RFC 8030, section 5.4. */
  const topicOf = (account: string, { kind, deviceId, peer }: PushJob): string =>
    createHmac('sha256', topicSecret)
      .update([account, deviceId, kind, peer].join('\n'))
      .digest()
      .subarray(0, 24)
      .toString('base64url');

  /** A new device is not worth waking a phone from deep sleep. */
  const urgencyOf: Readonly<Record<PushKind, PushNotice['urgency']>> = {
    message: 'high',
    transfer: 'high',
    device: 'normal',
    test: 'high',
  };

  return {
    /** Returns for how many ms the push is still worth sending; 0 or less if that time is over. */
    leftMs: ({ kind }: PushJob, { sinceMs, nowMs }: Taken): number => sinceMs + secondsOf[kind] * 1_000 - nowMs,

    noticeOf: (account: string, job: PushJob, taken: Taken, leftMs: number): PushNotice => ({
      type: job.kind,
      count: taken.count,
      id: taken.id,
      preview: previewOf(taken),
      ttlSeconds: Math.max(1, Math.floor(leftMs / 1_000)),
      urgency: urgencyOf[job.kind],
      topic: topicOf(account, job),
    }),
  };
}

export type Notices = ReturnType<typeof makeNotices>;
