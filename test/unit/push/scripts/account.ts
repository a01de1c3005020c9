import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import * as scripts from '../../../../services/sync/push/scripts.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());

/** A registration of the phone, in its stored form. */
const REGISTRATION = {
  ...{ id: 'r1', hash: 'hash', fence: '7', created: String(NOW - 9_000), ok: '0', suspended: '0' },
  ...{ preview: 'full', target: '"target"' },
};
export type Registration = typeof REGISTRATION;

export const registrationText = (fields: Partial<Registration> = {}): string =>
  Object.values({ ...REGISTRATION, ...fields }).join('\n');

export type Kind = 'message' | 'transfer' | 'device' | 'test';
export const jobOf = (kind: Kind, { platform = 'web', device = 'phone', peer = 'laptop' } = {}): string =>
  `push:${platform}:${kind}:${device}:${peer}`;

/** Makes an account with a laptop and a phone, which gets pushes. Its scripts run in the store at NOW. */
export async function makeAccount(redis: Redis) {
  const name = `u${randomBytes(5).toString('hex')}`;
  const on = keys.inAccount(name, { rate: keys.rate(name, 'push', 'phone'), owner: keys.pushOwner(name) });
  await redis.hset(on.devices, 'laptop', 'Laptop\n', 'phone', 'Phone\n');
  const registered = {
    device: 'phone',
    platform: 'web',
    id: 'r2',
    hash: 'hash',
    fence: '8',
    preview: 'none',
    target: '"new"',
  };
  const dropped = { device: 'phone', platform: '', fence: '', hash: '' };
  const claim = { claimantAccount: 'u', claimant: 'phone', ownFence: '' };
  const finished = {
    ...{
      platform: 'web',
      device: 'phone',
      fence: '7',
      takenNewest: 'm1',
      retryMs: null as number | null,
      hash: 'hash',
    },
    ...{ outcome: 'delivered' as 'delivered' | 'gone' | 'retry' | 'not_here' | 'suspend' | 'dropped' },
  };
  return {
    name,
    keys: on,
    admit: (device = 'phone', platform = 'web') => runScript(redis, scripts.pushAdmit, [], on, { device, platform }),
    register: (args: Partial<typeof registered> = {}) =>
      runScript(redis, scripts.pushRegister, [], on, { ...registered, ...args }),
    drop: (args: Partial<typeof dropped> = {}) => runScript(redis, scripts.pushDrop, [], on, { ...dropped, ...args }),
    own: (args: Partial<typeof claim> = {}) => runScript(redis, scripts.pushOwner, [], on, { ...claim, ...args }),
    release: (droppedFence: string) => runScript(redis, scripts.pushRelease, [], on, { droppedFence }),
    test: (id = 'n1', device = 'phone') => runScript(redis, scripts.pushTest, [], on, { device, id }),
    take: (kind: Kind, { platform = 'web', device = 'phone', peer = 'laptop', dead = [] as string[] } = {}) =>
      runScript(redis, scripts.pushTake, [], on, {
        ...{ job: jobOf(kind, { platform, device, peer }), platform, kind, device, peer, dead },
      }),
    finish: (job: string, args: Partial<typeof finished> = {}) =>
      runScript(redis, scripts.pushFinish, [], on, { ...finished, job, ...args }),
    /** Writes a registration. */
    subscribe: (fields: Partial<Registration> = {}, { platform = 'web', device = 'phone' } = {}) =>
      redis.hset(on.push, `r:${platform}:${device}`, registrationText(fields)),
    registration: (platform = 'web', device = 'phone') => redis.hget(on.push, `r:${platform}:${device}`),
    /** Writes a job that is due at a time, null for one without a time. */
    async job(job: string, at: number | null = NOW, text = `m1\n${NOW - 500}\n0\n0`) {
      await redis.hset(on.push, `j:${job}`, text);
      if (at !== null) await redis.zadd(on.due, at, job);
    },
    /** Returns a job in its stored form, and the time when it is due. */
    stored: async (job: string) => ({
      text: await redis.hget(on.push, `j:${job}`),
      at: await redis.zscore(on.due, job).then((at) => (at === null ? null : Number(at) - NOW)),
    }),
    stream: (device: string, channel = 'bus:a') =>
      redis.hset(on.routes, `stream of ${device}`, [channel, device, 1, NOW, NOW, 0].join('\n')),
    /** Puts a message from this many ms ago into the phone's mailbox. */
    async message(id: string, ago: number, { sender = 'laptop', text = `{"id":"${id}"` } = {}) {
      const logId = `${NOW - ago}-7`;
      await redis.hset(on.mail, id, `${logId}\n${sender}\n7\n1\n${text}`);
      await redis.zadd(on.inbox, 0, `phone:${logId}:${id}`);
    },
    /** Lists an offer from this many ms ago to the phone. It is pending unless told otherwise. */
    async offer(id: string, ago: number, { sender = 'laptop', isPending = true } = {}) {
      const at = NOW - ago;
      await redis.zadd(on.offers, 0, `${sender} all ${at}-${id}`, 0, `phone all ${at}-${id}`);
      if (isPending) await redis.zadd(on.offers, 0, `phone pending ${at}-7:${id}`);
    },
  };
}
