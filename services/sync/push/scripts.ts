import { defineScript } from '../redis/script.ts';
import {
  json,
  maybeNumber,
  nothing,
  number,
  oneOf,
  record,
  rest,
  rows,
  text,
  textList,
  wordSet,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';
import type { PushTarget } from './sender.ts';

const claim = { hash: text, fence: text };

export const pushAdmit = defineScript({
  file: new URL('./lua/push-admit.lua', import.meta.url),
  keys: ['devices', 'push', 'rate'],
  args: { device: text, platform: text },
  settings: ['RATE_LIMIT'],
  reply: record({ hash: text, target: json<PushTarget>() }),
  rate: 'push',
});

export const pushRegister = defineScript({
  file: new URL('./lua/push-register.lua', import.meta.url),
  keys: ['devices', 'push', 'due'],
  args: {
    device: text,
    platform: text,
    /** Id for a new registration. */
    id: text,
    /** Hash of the target. */
    hash: text,
    fence: text,
    preview: text,
    /** Target as JSON. */
    target: text,
  },
  reply: record({ id: text, ...claim, jobs: textList }),
});

export const pushDrop = defineScript({
  file: new URL('./lua/push-drop.lua', import.meta.url),
  keys: ['push', 'due'],
  args: {
    device: text,
    /** Platform, '' for all. */
    platform: text,
    /** Highest fence to drop, '' for any. */
    fence: text,
    /** Hash of the target, where there is a fence. */
    hash: text,
  },
  reply: record({ dropped: rest(rows(claim)) }),
  runsWhenFull: true,
});

export const pushOwner = defineScript({
  file: new URL('./lua/push-owner.lua', import.meta.url),
  keys: ['owner'],
  args: {
    claimantAccount: text,
    /** Device. */
    claimant: text,
    /** Fence of the registration; '' claims the target anew. */
    ownFence: text,
  },
  constants: {
    /** How long the owner of a target is kept after the last push there. */
    OWNER_MS: 180 * 86_400_000,
  },
  reply: record({ fence: text, account: text, device: text }),
});

export const pushRelease = defineScript({
  file: new URL('./lua/push-release.lua', import.meta.url),
  keys: ['owner'],
  args: {
    /** Fence of the registration that was dropped. */
    droppedFence: text,
  },
  reply: nothing,
  runsWhenFull: true,
});

export const pushTest = defineScript({
  file: new URL('./lua/push-test.lua', import.meta.url),
  keys: ['push', 'due', 'rate'],
  args: {
    device: text,
    /** Id of the notification. */
    id: text,
  },
  settings: ['RATE_LIMIT'],
  reply: record({ jobs: textList }),
  rate: 'push_test',
});

export const pushTake = defineScript({
  file: new URL('./lua/push-take.lua', import.meta.url),
  keys: ['devices', 'routes', 'due', 'push', 'inbox', 'mail', 'offers'],
  args: { job: text, platform: text, kind: text, device: text, peer: text, dead: wordSet },
  constants: {
    /** How long no other replica takes a push that was taken. Sending takes 10 s at most. */
    LEASE_MS: 30_000,
  },
  reply: record({
    outcome: text,
    registration: text,
    newest: text,
    sinceMs: number,
    attempts: number,
    nowMs: number,
    dueAtMs: number,
    count: number,
    id: text,
    message: text,
  }),
  runsWhenFull: true,
});

export const pushFinish = defineScript({
  file: new URL('./lua/push-finish.lua', import.meta.url),
  keys: ['due', 'push'],
  args: {
    job: text,
    platform: text,
    device: text,
    /** Fence of the registration. */
    fence: text,
    /** Newest item of the job when it was taken. */
    takenNewest: text,
    outcome: oneOf('delivered', 'gone', 'retry', 'suspend', 'dropped'),
    /** Retry: ms until the next try. */
    retryMs: maybeNumber,
    /** Hash of the target that the push was sent to. */
    hash: text,
  },
  reply: record(claim),
  runsWhenFull: true,
});
