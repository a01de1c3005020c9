import type { PushKind, PushPlatform } from '../../../../shared/contract/modules/push.ts';

/** A push to send: for all that is pending for a device, of one kind and from one peer. */
export interface PushJob {
  /** As it is written in `{u}:due`. */
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
