import { wordsOf } from '../world/resp.ts';
import { type Call, fieldsAt, type Follower, makeFollower, readSteps } from './model-steps.ts';

const STEPS = readSteps('lease');
const GONE = 'gone';

/** A login request, and the store's time at that look. */
interface Login {
  state: string;
  fence: number;
  leaseMs: number;
  expiresMs: number;
  decision: string;
  nowMs: number;
}

/** Returns a request at a time in the words of the model: `approved+leased+over`. */
function wordsAt({ state, leaseMs, expiresMs }: Login, nowMs: number): string {
  if (state === '') return GONE;
  return [state, leaseMs > nowMs && 'leased', nowMs >= expiresMs && 'over'].filter(Boolean).join('+');
}

/** The step of the model that a script took, and its answer. Null: it took none. */
interface Taken {
  step: string;
  says: string;
}

/** Returns the step that a script says it took. */
function takenBy({ name, args }: Call, [status = '', word = '', ...more]: string[], login: Login): Taken | null {
  if (name === 'login-finish') {
    const [fence = '', outcome = ''] = args;
    const place = Number(fence) === login.fence ? 'newest' : 'older';
    return { step: `${place} ${outcome}`, says: word === '1' ? 'yes' : 'no' };
  }
  if (status !== 'OK') return null;
  if (name === 'login-decide' && word === 'decided') {
    const [, , operation = '', , decision = ''] = args;
    // The call was sent again after a lost answer.
    return login.decision === operation ? null : { step: `user ${decision}`, says: 'ok' };
  }
  const fence = Number(more[2]);
  return name === 'login-poll' && word === 'leased'
    ? { step: 'poll lease', says: `fence+${fence - login.fence}` }
    : null;
}

/** Tells whether a script that took no step changed nothing, and had no lease to give. */
function isIdle({ name }: Call, [from, to]: [string, string], [before, after]: [Login, Login]): boolean {
  const isHeld = name !== 'login-poll' || !STEPS.has(`${from} poll lease`);
  return from === to && before.fence === after.fence && isHeld;
}

function wrongStep(call: Call, before: Login, after: Login): string | null {
  const [was, to] = [wordsAt(before, after.nowMs), wordsAt(after, after.nowMs)];
  const reply = wordsOf(call.reply);
  if (was === GONE) return to === GONE || call.name === 'login-start' ? null : `from nothing to ${to}`;
  // A script first finds that the time of a request is over.
  const from = after.state === 'expired' && STEPS.get(`${was} time expire`)?.to === to ? to : was;
  const taken = takenBy(call, reply, before);
  const says = `from ${from} to ${to}, answered "${reply.slice(0, 2).join(' ')}"`;
  if (taken === null) return isIdle(call, [from, to], [before, after]) ? null : says;
  const step = STEPS.get(`${from} ${taken.step}`);
  const isFenced = taken.step === 'poll lease' ? after.fence > before.fence : after.fence === before.fence;
  if (step?.says === taken.says && step.to === to && isFenced) return null;
  return `${taken.step} ${says}; it said "${taken.says}", and the model says "${step?.says}" and ${step?.to}`;
}

/** Follows login requests by `login.tla`: decisions, leases with their fencing numbers, ends. */
export const followLogins = (): Follower =>
  makeFollower<Login>({
    record: /:login:\{[^}]+\}$/,
    async look(ask, key) {
      const [seconds = '', micros = ''] = wordsOf(await ask('TIME'));
      const found = await fieldsAt(ask, key, ['state', 'fence', 'lease', 'expires', 'decision']);
      const { state, decision } = found;
      const [fence, leaseMs, expiresMs] = [Number(found.fence), Number(found.lease), Number(found.expires)];
      return { state, fence, leaseMs, expiresMs, decision, nowMs: Number(seconds) * 1_000 + Number(micros) / 1_000 };
    },
    wrong: (call, before, after) => (before === null ? null : wrongStep(call, before, after)),
  });
