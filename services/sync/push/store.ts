import { createHash } from 'node:crypto';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { RATES } from '../../../shared/contract/rates.ts';
import type { Preview, PushPlatform, PushSubscription } from '../../../shared/contract/push.ts';
import type { Redis } from '../redis/connections.ts';
import { orFault } from '../redis/faults.ts';
import type { Keys } from '../redis/keys.ts';
import type { ScriptLoader } from '../redis/scripts.ts';
import type { PushFact } from './facts.ts';
import type { PushTarget } from './sender.ts';

/** A push that was taken is left alone by the others for so long; sending takes 10 s at most. */
const LEASE_MS = 30_000;
/** Whose a target is is forgotten when nothing was sent there for so long. */
const OWNER_MS = 180 * 86_400_000;

/**
 * Who holds a target. The higher fence came later, on whatever replica; it is when it was claimed, in ms by the store's
 * clock, or a little more.
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

export interface Taken {
  readonly registration: Registration;
  /** The newest item of the job when it was taken, which says whether more came meanwhile. */
  readonly newest: string;
  readonly sinceMs: number;
  readonly attempts: number;
  readonly nowMs: number;
  readonly dueAtMs: number;
  readonly count: number;
  readonly id: string;
  /** For a preview, where the device asked for one: the newest message, or who offers or has joined, as JSON without its end. */
  readonly message: string;
}

export type Finish =
  | { readonly outcome: 'delivered' | 'gone' | 'suspend' | 'dropped' }
  | { readonly outcome: 'retry'; readonly inMs: number };

function registrationOf(stored: string): Registration {
  const [id = '', hash = '', fence = '', created, ok, suspended, preview, ...target] = stored.split('\n');
  return {
    ...{ id, hash, fence, createdAtMs: Number(created), lastOkAtMs: Number(ok) || null },
    ...{ isSuspended: suspended !== '0', preview: preview as Preview },
    target: JSON.parse(target.join('\n')) as PushTarget,
  };
}

function claimsOf(flat: string[]): Claim[] {
  const claims: Claim[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) claims.push({ hash: flat[i] as string, fence: flat[i + 1] as string });
  return claims.filter(({ hash }) => hash !== '');
}

/** What a target is known by everywhere, without telling it. */
export const hashOf = (target: PushTarget): string =>
  createHash('sha256')
    .update(`${target.kind}\n${target.kind === 'web' ? target.endpoint : target.token}`)
    .digest('base64url');

interface PushStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
  /** Subscriptions an hour, and tests a minute, per device; null: unlimited. */
  rates: { push: number | null; pushTest: number | null };
  /** Channels of the replicas that are known to be dead, joined by line ends. */
  deadChannels: () => string;
}

/** Registrations, whose targets they are, and what is to be pushed. */
export function makePushStore({ redis, scripts, keys, rates, deadChannels }: PushStoreParts) {
  const load = (name: string) =>
    scripts.load(`push-${name}.lua`, import.meta.url, name === 'test' ? 'push_test' : 'push');
  const [admit, register, drop, owner, release] = [
    ...[load('admit'), load('register'), load('drop'), load('owner'), load('release')],
  ] as const;
  const [test, take, finish] = [load('test'), load('take'), load('finish')] as const;

  return {
    /** What the device has registered there; counts against its rate. Throws `device_required`, `rate_limited`. */
    async admit(
      u: string,
      deviceId: string,
      platform: PushPlatform,
    ): Promise<{ hash: string; target: PushTarget } | null> {
      const [hash, target] = (await admit(
        [keys.devices(u), keys.push(u), keys.rate(u, 'push', deviceId)],
        [deviceId, platform, rates.push ?? 0, RATES.push.windowSeconds],
      )) as [string, string];
      return hash === '' ? null : { hash, target: JSON.parse(target) as PushTarget };
    },

    /** Takes a target, whoever had it. From now on nobody else's pushes go there. */
    async claim(hash: string, u: string, deviceId: string) {
      const [fence = '', account = '', device = ''] = (await owner(
        [keys.pushOwner(hash)],
        [u, deviceId, '', OWNER_MS],
      )) as string[];
      return { claim: { hash, fence }, before: account === '' ? null : { account, deviceId: device } };
    },

    /** Whether the target is still this device's, perhaps by a later claim. One that the store lost is put back. */
    async owns({ hash, fence }: Claim, u: string, deviceId: string): Promise<boolean> {
      const [, account, device] = (await owner([keys.pushOwner(hash)], [u, deviceId, fence, OWNER_MS])) as string[];
      return account === u && device === deviceId;
    },

    async release({ hash, fence }: Claim): Promise<void> {
      await release([keys.pushOwner(hash)], [fence]);
    },

    /**
     * Writes the registration; `replaced`: what the device had before, `facts`: what its push service had put off. The
     * account must have been noted as having something due. Throws `device_required`.
     */
    async register(
      u: string,
      deviceId: string,
      { id, claim, preview, target }: { id: string; claim: Claim; preview: Preview; target: PushTarget },
    ): Promise<{ id: string; replaced: Claim[]; facts: string[] }> {
      const reply = await register(
        [keys.devices(u), keys.push(u), keys.due(u)],
        [deviceId, target.kind, id, claim.hash, claim.fence, preview, JSON.stringify(target)],
      );
      const facts = reply.pop() as string[];
      const [kept, ...replaced] = reply as string[];
      return { id: kept as string, replaced: claimsOf(replaced), facts };
    },

    /** Drops a device's registrations: all, or that of a target which was claimed no later. */
    async drop(u: string, deviceId: string, one?: Claim & { platform: PushPlatform }): Promise<Claim[]> {
      const args = [deviceId, one?.platform ?? '', one?.fence ?? '', one?.hash ?? ''];
      return claimsOf((await drop([keys.push(u), keys.due(u)], args)) as string[]);
    },

    /** Everything that the account has registered. */
    async list(u: string): Promise<(Registration & { deviceId: string })[]> {
      const fields = Object.entries(await orFault(redis.hgetall(keys.push(u))));
      return fields
        .filter(([field]) => field.startsWith('r:'))
        .map(([field, stored]) => ({ ...registrationOf(stored), deviceId: field.split(':')[2] as string }));
    },

    async erase(u: string): Promise<void> {
      await orFault(redis.del(keys.push(u)));
    },

    /** Owes the device a test notification. Throws `not_found`, `rate_limited`. */
    async test(u: string, deviceId: string, id: string): Promise<string[]> {
      const [facts] = await test(
        [keys.push(u), keys.due(u), keys.rate(u, 'push_test', deviceId)],
        [deviceId, id, rates.pushTest ?? 0, RATES.push_test.windowSeconds],
      );
      return facts as string[];
    },

    /** Where a push would go now; null when it would go nowhere. */
    async target(u: string, { platform, deviceId }: PushFact): Promise<PushTarget | null> {
      const stored = await orFault(redis.hget(keys.push(u), `r:${platform}:${deviceId}`));
      return stored === null ? null : registrationOf(stored).target;
    },

    /** Takes what is due; a word says why it was not: `later`, or why it was dropped. */
    async take(u: string, { fact, platform, kind, deviceId, peer }: PushFact): Promise<Taken | string> {
      const [word = '', stored = '', ...rest] = (await take(
        [keys.devices(u), keys.routes(u), keys.due(u), keys.push(u), keys.inbox(u), keys.mail(u)],
        [
          ...[fact, platform, kind, deviceId, peer, LEASE_MS, deadChannels()],
          ...[LIMITS.pushSilenceMs, LIMITS.pushCount],
        ],
      )) as string[];
      if (word !== 'taken') return word;
      const [newest = '', since, attempts, now, due, count, id = '', message = ''] = rest;
      return {
        ...{ registration: registrationOf(stored), newest, sinceMs: Number(since), attempts: Number(attempts) },
        ...{ nowMs: Number(now), dueAtMs: Number(due), count: Number(count), id, message },
      };
    },

    /** What became of it. Resolves to the registration that was deleted, as it was the one that was sent to. */
    async finish(u: string, { fact, platform, deviceId }: PushFact, { registration, newest }: Taken, end: Finish) {
      const reply = (await finish(
        [keys.due(u), keys.push(u)],
        [
          ...[fact, platform, deviceId, registration.fence, newest, end.outcome],
          ...[end.outcome === 'retry' ? Math.ceil(end.inMs) : '', registration.hash],
        ],
      )) as string[];
      return claimsOf(reply)[0] ?? null;
    },
  };
}

export type PushStore = ReturnType<typeof makePushStore>;

/** A registration as its account may see it: without its secrets. */
export const viewOf = ({
  id,
  deviceId,
  target,
  isSuspended,
  createdAtMs,
  lastOkAtMs,
}: Registration & { deviceId: string }): PushSubscription => ({
  ...{ subscription_id: id, device_id: deviceId, platform: target.kind },
  ...{ state: isSuspended ? 'suspended' : 'active', created_at: createdAtMs, last_ok_at: lastOkAtMs },
});
