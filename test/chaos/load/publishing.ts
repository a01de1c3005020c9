import { BatonError } from '../../../shared/contract/errors.ts';
import { NoAnswerError } from '../../../shared/client/errors/no-answer.ts';
import type { History, MessageSent, Outcome } from '../history.ts';
import type { Random } from '../random.ts';
import type { ChaosDevice } from './chaos-device.ts';
import { nameFor, textOf } from './texts.ts';
import { wait } from '../wait.ts';

/** Tells from a failed call whether it happened. */
function outcomeOf(error: unknown): { outcome: Outcome; code: string } {
  if (error instanceof NoAnswerError) return { outcome: 'unknown', code: error.reason };
  if (!(error instanceof BatonError)) throw error;
  return { outcome: error.status < 500 ? 'refused' : 'unknown', code: error.code };
}

const ATTEMPTS = 3;

/** In a quiet moment the only question is whether it arrives. Six seconds of a busy machine are no refusal. */
const PROBE_ATTEMPTS = 8;

interface PublishingParts {
  history: History;
  random: Random;
  now: () => number;
}

/** Things that devices do. Each is written down with its answer. */
export function makePublishing({ history, random, now }: PublishingParts) {
  let operations = 0;
  let inFlight = 0;

  const asked = (device: ChaosDevice) => {
    operations += 1;
    return { number: operations, account: device.account, device: device.id, sentAt: now() };
  };

  /** Makes the call. A refusal for another version of the contract would be a mistake of the load, and ends the run. */
  async function settle<T>(call: Promise<{ body: T }>) {
    inFlight += 1;
    try {
      const { body } = await call;
      return { answeredAt: now(), outcome: 'acknowledged' as const, code: null, body };
    } catch (error) {
      return { answeredAt: now(), ...outcomeOf(error), body: null };
    } finally {
      inFlight -= 1;
    }
  }

  return {
    get inFlight() {
      return inFlight;
    },

    /**
     * Sends to one device, or with null to all others. Without an answer it is repeated on another replica, under its
     * key.
     */
    async message(sender: ChaosDevice, receiver: ChaosDevice | null, isProbe = false): Promise<MessageSent> {
      const base = asked(sender);
      const filler = 'x'.repeat(Math.floor(random.next() ** 8 * 3_500));
      const content = textOf({ account: sender.account, operation: base.number }, filler);
      const target = receiver === null ? { to: '*' } : { to_device_id: receiver.id };
      const idempotencyKey = `${sender.id}-${base.number}`;
      const send = () =>
        settle(sender.client.call('sendMessage', { body: { ...target, content }, idempotencyKey, retries: 0 }));
      let { body, ...settled } = await send();
      const attempts = isProbe ? PROBE_ATTEMPTS : ATTEMPTS;
      for (let attempt = 1; attempt < attempts && settled.outcome === 'unknown'; attempt += 1) {
        await wait(200 * attempt);
        ({ body, ...settled } = await send());
        // The refusal of a later attempt says nothing about the earlier one, which may still be under way.
        if (settled.outcome === 'refused') settled.outcome = 'unknown';
      }
      const receivers = body?.to.flatMap(({ device_id: id, error }) => (id === null || error ? [] : [id])) ?? [];
      const sent = {
        kind: 'message' as const,
        ...base,
        ...settled,
        isProbe,
        messageId: body?.message_id ?? null,
        receivers,
      };
      history.operations.push(sent);
      return sent;
    },

    async clipboard(writer: ChaosDevice): Promise<void> {
      const base = asked(writer);
      const headers = { 'X-Device-Name': textOf({ account: writer.account, operation: base.number }, '').trim() };
      const body = { content: `clip ${base.number}`, content_type: 'text/plain' };
      const { body: _, ...settled } = await settle(writer.client.call('setClipboard', { headers, body }));
      history.operations.push({ kind: 'clipboard', ...base, ...settled });
    },

    async rename(caller: ChaosDevice, device: ChaosDevice): Promise<void> {
      const base = asked(caller);
      const params = { device_id: device.id };
      const name = nameFor(device.name, base.number);
      const { body: _, ...settled } = await settle(caller.client.call('renameDevice', { params, body: { name } }));
      history.operations.push({ kind: 'rename', ...base, ...settled, renamed: device.id });
    },

    /** Resolves to whether it is known to be done. */
    async acknowledge(device: ChaosDevice, messageIds: string[]): Promise<boolean> {
      const base = asked(device);
      const body = { message_ids: messageIds };
      const { body: answer, ...settled } = await settle(device.client.call('ackMessages', { body }));
      history.operations.push({ kind: 'ack', ...base, ...settled, messageIds, acked: answer?.acked ?? null });
      return settled.outcome === 'acknowledged';
    },
  };
}

export type Publishing = ReturnType<typeof makePublishing>;
