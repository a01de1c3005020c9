import { createHash } from 'node:crypto';
import type { Preview, PushPlatform, PushSubscription } from '../../../shared/contract/modules/push.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import type { PushJob } from './delivery/jobs.ts';
import type { PushQueue } from './push-queue.ts';
import {
  pushAdmit,
  pushDrop,
  pushFinish,
  pushOwner,
  pushRegister,
  pushRelease,
  pushTake,
  pushTest,
} from './scripts.ts';
import type { PushTarget } from './sender.ts';

/**
 * A target with the fence of its claim: the time of the claim in ms by the store's clock, or a little more. The later of
 * two claims has the higher fence, on whatever replicas they were made.
 */
export interface Claim {
  readonly hash: string;
  readonly fence: string;
}

export interface Registration extends Claim {
  readonly id: string;
  readonly createdAtMs: number;
  readonly lastOkAtMs: number | null;
  readonly isSuspended: boolean;
  readonly preview: Preview;
  readonly target: PushTarget;
}

export interface Taken extends Omit<ReturnType<typeof pushTake.read>, 'outcome' | 'registration'> {
  readonly registration: Registration;
}

type Finish =
  | { readonly outcome: 'delivered' | 'gone' | 'suspend' | 'dropped' }
  | { readonly outcome: 'retry' | 'not_here'; readonly inMs: number };

function registrationOf(stored: string): Registration {
  const [id = '', hash = '', fence = '', created, ok, suspended, preview, ...target] = stored.split('\n');
  return {
    id,
    hash,
    fence,
    createdAtMs: Number(created),
    lastOkAtMs: Number(ok) || null,
    isSuspended: suspended !== '0',
    preview: preview as Preview,
    target: JSON.parse(target.join('\n')) as PushTarget,
  };
}

/** Returns the hash that stands for the target in keys and rows, so that they do not reveal it. */
export const hashOf = (target: PushTarget): string =>
  createHash('sha256')
    .update(`${target.kind}\n${target.kind === 'web' ? target.endpoint : target.token}`)
    .digest('base64url');

interface PushStoreParts extends Db {
  /** Returns the channels of the replicas that are known to be dead, one per line. */
  deadChannels: () => string;
  queue: PushQueue;
}

/** Makes the store of registrations, of the owners of their targets, and of the jobs to push. */
export function makePushStore({ redis, scripts, keys, deadChannels, queue }: PushStoreParts) {
  const admit = scripts.define(pushAdmit);
  const register = queue.enqueuingAlways(scripts.define(pushRegister));
  const test = queue.enqueuingAlways(scripts.define(pushTest));
  const drop = scripts.define(pushDrop);
  const owner = scripts.define(pushOwner);
  const release = scripts.define(pushRelease);
  const take = scripts.define(pushTake);
  const finish = scripts.define(pushFinish);

  return {
    /** Counts against the device's rate. Resolves to its present target. Throws `device_required`, `rate_limited`. */
    async admit(u: string, deviceId: string, platform: PushPlatform): Promise<PushTarget | null> {
      const its = keys.inAccount(u, { rate: keys.rate(u, 'push', deviceId) });
      return (await admit(its, { device: deviceId, platform })).target;
    },

    /** Claims a target, regardless of its owner. From now on no pushes of others go there. */
    async claim(hash: string, u: string, deviceId: string) {
      const { fence, account, device } = await owner(
        { owner: keys.pushOwner(hash) },
        { claimantAccount: u, claimant: deviceId, ownFence: '' },
      );
      return { claim: { hash, fence }, before: account === '' ? null : { account, deviceId: device } };
    },

    /** Resolves to whether this device owns the target, perhaps by a later claim. Rewrites a claim that the store lost. */
    async owns({ hash, fence }: Claim, u: string, deviceId: string): Promise<boolean> {
      const { account, device } = await owner(
        { owner: keys.pushOwner(hash) },
        { claimantAccount: u, claimant: deviceId, ownFence: fence },
      );
      return account === u && device === deviceId;
    },

    /** Deletes this claim, unless the target was claimed again since. */
    async release({ hash, fence }: Claim): Promise<void> {
      await release({ owner: keys.pushOwner(hash) }, { droppedFence: fence });
    },

    /** Writes the registration. `replaced` holds the target that the device had before. Throws `device_required`. */
    async register(
      u: string,
      deviceId: string,
      { id, claim, preview, target }: { id: string; claim: Claim; preview: Preview; target: PushTarget },
    ): Promise<{ id: string; replaced: Claim[] }> {
      const {
        id: kept,
        hash,
        fence,
      } = await register(keys.inAccount(u), {
        device: deviceId,
        platform: target.kind,
        id,
        ...claim,
        preview,
        target: JSON.stringify(target),
      });
      return { id: kept, replaced: hash === '' ? [] : [{ hash, fence }] };
    },

    /** Drops all registrations of a device, or only that of the target in `one`, if its claim is no later than `one`. */
    async drop(u: string, deviceId: string, one?: Claim & { platform: PushPlatform }): Promise<Claim[]> {
      const { platform = '', fence = '', hash = '' } = one ?? {};
      const { dropped } = await drop(keys.inAccount(u), { device: deviceId, platform, fence, hash });
      return dropped;
    },

    async list(u: string): Promise<(Registration & { deviceId: string })[]> {
      const fields = Object.entries(await orFault(redis, () => redis.hgetall(keys.push(u))));
      return fields
        .filter(([field]) => field.startsWith('r:'))
        .map(([field, stored]) => ({ ...registrationOf(stored), deviceId: field.split(':')[2] as string }));
    },

    /** Removes all registrations of the account, with their jobs. */
    async erase(u: string): Promise<void> {
      await orFault(redis, () => redis.del(keys.push(u)));
    },

    /** Pushes a test notification to the device. Throws `not_found`, `rate_limited`. */
    async test(u: string, deviceId: string, id: string): Promise<void> {
      const its = keys.inAccount(u, { rate: keys.rate(u, 'push_test', deviceId) });
      await test(its, { device: deviceId, id });
    },

    /** Resolves to the target that a push would go to now, or to null when there is none. */
    async target(u: string, { platform, deviceId }: PushJob): Promise<PushTarget | null> {
      const stored = await orFault(redis, () => redis.hget(keys.push(u), `r:${platform}:${deviceId}`));
      return stored === null ? null : registrationOf(stored).target;
    },

    /** Takes a job that is due. If it is not taken, resolves to `later` or to why it was dropped. */
    async take(u: string, { job, platform, kind, deviceId, peer }: PushJob): Promise<Taken | string> {
      const { outcome, registration, ...taken } = await take(keys.inAccount(u), {
        job,
        platform,
        kind,
        device: deviceId,
        peer,
        dead: deadChannels(),
      });
      return outcome === 'taken' ? { ...taken, registration: registrationOf(registration) } : outcome;
    },

    /** Writes the outcome. Resolves to the registration that the push was sent to if that was deleted, else to null. */
    async finish(u: string, { job, platform, deviceId }: PushJob, { registration, newest }: Taken, end: Finish) {
      const deleted = await finish(keys.inAccount(u), {
        job,
        platform,
        device: deviceId,
        fence: registration.fence,
        hash: registration.hash,
        takenNewest: newest,
        outcome: end.outcome,
        retryMs: 'inMs' in end ? Math.ceil(end.inMs) : null,
      });
      return deleted.hash === '' ? null : deleted;
    },
  };
}

export type PushStore = ReturnType<typeof makePushStore>;

/** Returns a registration as its account may see it, without its secrets. */
export const viewOf = ({
  id,
  deviceId,
  target,
  isSuspended,
  createdAtMs,
  lastOkAtMs,
}: Registration & { deviceId: string }): PushSubscription => ({
  subscription_id: id,
  device_id: deviceId,
  platform: target.kind,
  state: isSuspended ? 'suspended' : 'active',
  created_at: createdAtMs,
  last_ok_at: lastOkAtMs,
});
