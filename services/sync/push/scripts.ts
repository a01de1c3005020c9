import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';
import type { PushTarget } from './sender.ts';

const defineScript = scriptsIn(import.meta.url);

const claim = { hash: t.text, fence: t.text };

export const pushAdmit = defineScript('push-admit', {
  keys: ['devices', 'push', 'rate'],
  args: { device: t.text, platform: t.text },
  reply: t.record({ target: t.json<PushTarget>() }),
  rate: 'push',
});

export const pushRegister = defineScript('push-register', {
  keys: ['devices', 'push', 'due'],
  args: {
    device: t.text,
    platform: t.text,
    /** Id for a new registration. */
    id: t.text,
    /** Hash of the target. */
    hash: t.text,
    fence: t.text,
    preview: t.text,
    /** Target as JSON. */
    target: t.text,
  },
  reply: t.record({ id: t.text, ...claim, jobs: t.textList }),
});

export const pushDrop = defineScript('push-drop', {
  keys: ['push', 'due'],
  args: {
    device: t.text,
    /** Platform, '' for all. */
    platform: t.text,
    /** Highest fence to drop, '' for any. */
    fence: t.text,
    /** Hash of the target, if there is a fence. */
    hash: t.text,
  },
  reply: t.record({ dropped: t.rest(t.rows(claim)) }),
  runsWhenFull: true,
});

export const pushOwner = defineScript('push-owner', {
  keys: ['owner'],
  args: {
    claimantAccount: t.text,
    /** Device. */
    claimant: t.text,
    /** Fence of the registration; '' claims the target again. */
    ownFence: t.text,
  },
  constants: {
    /** How long the owner of a target is kept after the last push there. */
    OWNER_MS: 180 * 86_400_000,
  },
  reply: t.record({ fence: t.text, account: t.text, device: t.text }),
});

export const pushRelease = defineScript('push-release', {
  keys: ['owner'],
  args: {
    /** Fence of the registration that was dropped. */
    droppedFence: t.text,
  },
  runsWhenFull: true,
});

export const pushTest = defineScript('push-test', {
  keys: ['push', 'due', 'rate'],
  args: {
    device: t.text,
    /** Id of the notification. */
    id: t.text,
  },
  reply: t.record({ jobs: t.textList }),
  rate: 'push_test',
});

export const pushTake = defineScript('push-take', {
  keys: ['devices', 'routes', 'due', 'push', 'inbox', 'mail', 'offers'],
  args: { job: t.text, platform: t.text, kind: t.text, device: t.text, peer: t.text, dead: t.wordSet },
  constants: {
    /** How long no other replica takes a push that was taken. Sending takes 10 s at most. */
    LEASE_MS: 30_000,
  },
  reply: t.record({
    outcome: t.text,
    registration: t.text,
    /** The newest item of the job when it was taken. If the job has another newest item later, more has arrived. */
    newest: t.text,
    sinceMs: t.number,
    attempts: t.number,
    /** How many of the last attempts in a row were left to other replicas. */
    notHere: t.number,
    nowMs: t.number,
    dueAtMs: t.number,
    count: t.number,
    id: t.text,
    /** The newest message, or who offers or has joined, as JSON without its end; '' if the device asked for no preview. */
    message: t.text,
  }),
  runsWhenFull: true,
});

export const pushFinish = defineScript('push-finish', {
  keys: ['due', 'push'],
  args: {
    job: t.text,
    platform: t.text,
    device: t.text,
    /** Fence of the registration. */
    fence: t.text,
    /** Newest item of the job when it was taken. */
    takenNewest: t.text,
    outcome: t.oneOf('delivered', 'gone', 'retry', 'not_here', 'suspend', 'dropped'),
    /** `retry` and `not_here`: ms until the next try. */
    retryMs: t.maybeNumber,
    /** Hash of the target that the push was sent to. */
    hash: t.text,
  },
  reply: t.record(claim),
  runsWhenFull: true,
});
