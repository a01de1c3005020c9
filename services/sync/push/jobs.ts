import type { PushKind, PushPlatform } from '../../../shared/contract/push.ts';

/** One push that is owed: what of one kind and from one peer waits for a device collapses into it. */
export interface PushJob {
  /** As it stands in the account's due things. */
  readonly job: string;
  readonly platform: PushPlatform;
  readonly kind: PushKind;
  readonly deviceId: string;
  /** The device it comes from, or is about; '' for none. */
  readonly peer: string;
}

/** Parses `push:<platform>:<kind>:<device>:<peer>`; no part can hold a colon. */
export function parseJob(job: string): PushJob {
  const [, platform = '', kind = '', deviceId = '', peer = ''] = job.split(':');
  return { job, platform: platform as PushPlatform, kind: kind as PushKind, deviceId, peer };
}
