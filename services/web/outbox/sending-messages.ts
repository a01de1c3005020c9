import { isKeyProblem } from '../../../shared/client/sealing/key-problems.ts';
import type { Parts } from '../engine/parts.ts';
import type { Held } from '../locks.ts';
import { makeLanes } from './lanes.ts';
import { makePatience } from './patience.ts';
import { isWaitingItem, type Queue, type Waiting } from './queue.ts';
import { failureOf, isTooOld, verdictOf } from './verdict.ts';

const messagesTo = async (queue: Queue, to: string): Promise<Waiting[]> =>
  (await queue.all()).filter((one) => one.kind === 'message' && one.to === to);

/** Ends an item that was not sent, or whose outcome is unknown. */
const park = (queue: Queue, id: string, error: string): Promise<void> =>
  queue.settle(id, (item) => {
    if (item.kind === 'message') Object.assign(item, { state: 'failed', error });
  });

interface Attempt {
  waiting: Waiting;
  text: string;
  /** The lock of the line. */
  held: Held;
}

/**
 * Sends a message once: sealed if this browser has keys, unless its user wants it to go unencrypted. It does nothing when
 * the message must no longer be sent.
 */
async function sendOne(
  { client, entry, keys, queue, readiness }: Parts,
  { waiting, text, held: lane }: Attempt,
): Promise<void> {
  const { id, to } = waiting;
  const sealing = await keys.toSend();
  const envelope = (await sealing?.seal(waiting, text)) ?? undefined;
  const held = await queue.hold(id, entry.deviceId, envelope);
  if (held === null) return;
  await readiness.requireSession();
  // Another tab sends it, because this one was frozen for a while.
  if (!(await lane.isOurs())) return;
  const settings = { idempotencyKey: held.key, retries: 0 };
  const isSealed = sealing !== null && envelope !== undefined;
  const { message_id, created_at } = isSealed
    ? await sealing.post(to, envelope, settings)
    : await client.messages.send({ device_id: to }, text, settings);
  await queue.sent(id, message_id, created_at, sealing === null ? undefined : isSealed ? 'sealed' : 'open');
}

/** Makes whole lines wait, each of them the messages to one receiver. */
function makeLines(queue: Queue) {
  const patience = makePatience(queue);
  const idsOf = async (to: string): Promise<string[]> => (await messagesTo(queue, to)).map(({ id }) => id);
  return {
    worked: patience.worked,
    /** Makes a line wait for the reason of its first item. */
    async wait(to: string, reason: string, retryAfterMs: number | null = null): Promise<number> {
      return patience.wait(to, await idsOf(to), reason, retryAfterMs);
    },
    /** Lets a line wait while its rate is limited, and returns how long; null when it is not limited. */
    async stayLimited(to: string): Promise<number | null> {
      const ms = patience.limitedMs(to);
      if (ms !== null) await queue.tell(await idsOf(to), 'rate_limited');
      return ms;
    },
  };
}

/** Sends the waiting messages: to one receiver one at a time, the next when the one before has a response. */
export function makeSendingMessages(parts: Parts) {
  const { entry, history, queue, readiness } = parts;
  const { wait, stayLimited, worked } = makeLines(queue);

  /** Makes an attempt; null when the next one of the line may follow at once. */
  async function attempt(one: Attempt): Promise<number | null> {
    const { waiting } = one;
    const { id, to } = waiting;
    try {
      await sendOne(parts, one);
      worked(to);
      return null;
    } catch (error) {
      const failure = failureOf(error);
      if (isKeyProblem(failure)) return wait(to, failure.code);
      if (failure.outcome === 'none') await queue.release(waiting);
      const verdict = verdictOf(failure);
      if (verdict === 'refused') {
        await park(queue, id, failure.code);
        return null;
      }
      readiness.askFirst();
      return wait(to, verdict === 'stop' ? 'signed_out' : readiness.truthOf(failure.code), failure.retryAfterMs);
    }
  }

  async function step(waiting: Waiting, held: Held): Promise<number | null> {
    const item = await history.item(waiting.id);
    if (item?.kind !== 'message') {
      // The thread was cleared.
      await queue.remove(waiting.id);
      return null;
    }
    // A tab of an older version has sent it meanwhile.
    if (!isWaitingItem(item)) return queue.settle(waiting.id, () => {}).then(() => null);
    if (isTooOld(waiting, entry.deviceId)) {
      await park(queue, waiting.id, 'maybe_sent');
      return null;
    }
    const limitedMs = await stayLimited(waiting.to);
    if (limitedMs !== null) return limitedMs;
    const reason = await readiness.look();
    if (reason !== null) return wait(waiting.to, reason);
    return attempt({ waiting, text: item.text, held });
  }

  async function work(to: string, held: Held): Promise<number | null> {
    for (;;) {
      const [first] = await messagesTo(queue, to);
      if (first === undefined || !(await held.isOurs())) return null;
      const waitMs = await step(first, held);
      if (waitMs !== null) return waitMs;
    }
  }

  const lanes = makeLanes(`baton-outbox-${entry.userId}`, work);
  return {
    send: (to: string): void => void lanes.run(to),
    async sendAll(): Promise<void> {
      const all = (await queue.all()).filter(({ kind }) => kind === 'message');
      for (const to of new Set(all.map((one) => one.to))) void lanes.run(to);
    },
  };
}
