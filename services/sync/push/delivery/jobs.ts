import type { PushKind, PushPlatform } from '../../../../shared/contract/modules/push.ts';

/** A push to send for everything of one kind, from one peer, that is pending for a device. */
export interface PushJob {
  /** The job as `{u}:due` holds it. */
  readonly job: string;
  readonly platform: PushPlatform;
  readonly kind: PushKind;
  readonly deviceId: string;
  /** The device that the push comes from or is about; '' for none. */
  readonly peer: string;
}

/** Parses `push:<platform>:<kind>:<device>:<peer>`. No part can contain a colon. */
export function parseJob(job: string): PushJob {
  const [, platform = '', kind = '', deviceId = '', peer = ''] = job.split(':');
  return { job, platform: platform as PushPlatform, kind: kind as PushKind, deviceId, peer };
}
