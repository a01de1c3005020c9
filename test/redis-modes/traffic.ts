import { BatonError } from '../../shared/contract/errors.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import type { StreamState } from '../../shared/client/stream/stream-state.ts';
import type { Recorder } from '../support/stream-recorder.ts';

/** With this many accounts each primary of a cluster usually has some, though by chance one may have none. */
const ACCOUNTS = 12;

export const randomUsers = (): string[] => Array.from({ length: ACCOUNTS }, () => randomUser());

/** Each account sends one message in this time: a mailbox holds 500 that nobody acknowledges. */
const PACE_MS = 100;

interface Pair {
  user: string;
  laptop: TestDevice;
  phone: TestDevice;
  onPhone: Recorder;
  /** How many states its stream had had when its first `ready` came. */
  statesBefore: number;
  acknowledged: { id: string; content: string; askedAt: number; at: number }[];
  refused: { code: string; tookMs: number; at: number }[];
}

/** Messages that flow in many accounts from one replica to the other while something happens to the store. */
export interface Traffic {
  readonly pairs: readonly Pair[];
  /** Messages that were accepted so far, over all accounts. */
  readonly accepted: number;
  /** Refusals so far. */
  readonly refused: Pair['refused'];
  /** Resolves when each account (or each one that `which` picks) has received a message sent after now. */
  flowing(which?: (pair: Pair) => boolean): Promise<void>;
  /** Ends the sending, and waits until each phone has a last message. */
  finish(): Promise<void>;
  /** Returns what went wrong, as sentences; empty if all is well. */
  violations(): string[];
  /** Returns how open streams have closed. */
  closings(): StreamState[];
  /** Returns the longest time that an accepted message took to its stream. */
  slowestMs(): number;
  /** Returns the reasons with which streams were reset. */
  resets(): string[];
  /** Returns the positions that phones were told to give up, with their accounts. */
  givenUp(): { user: string; position: string }[];
  close(): Promise<void>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Shown {
  message_id: string;
  content: string;
}

export async function startTraffic(
  from: ReplicaProcess,
  to: ReplicaProcess,
  users: string[] = randomUsers(),
): Promise<Traffic> {
  let isOver = false;
  const pairs: Pair[] = await Promise.all(
    users.map(async (user) => {
      const laptop = makeDevice({ user, name: 'Laptop' });
      const phone = makeDevice({ user, name: 'Phone' });
      const onPhone = phone.listen(to);
      await onPhone.next('ready');
      // A stream that opens while the store is still recovering from the previous fault is sent away for a moment.
      return { user, laptop, phone, onPhone, statesBefore: onPhone.states.length, acknowledged: [], refused: [] };
    }),
  );

  async function send(pair: Pair, content: string): Promise<boolean> {
    const startedAt = performance.now();
    try {
      const { body } = await pair.laptop.on(from).call('sendMessage', { body: { to: 'Phone', content }, retries: 0 });
      pair.acknowledged.push({ id: body.message_id, content, askedAt: startedAt, at: performance.now() });
      return true;
    } catch (error) {
      const code = error instanceof BatonError ? error.code : String(error);
      pair.refused.push({ code, tookMs: performance.now() - startedAt, at: performance.now() });
      return false;
    }
  }

  const sending = pairs.map(async (pair) => {
    for (let i = 0; !isOver; i++) {
      await send(pair, String(i));
      await pause(PACE_MS);
    }
  });

  async function received(pair: Pair, content: string): Promise<void> {
    let attempt = 1;
    while (!(await send(pair, `${content}, try ${attempt}`))) {
      attempt += 1;
      await pause(PACE_MS);
    }
    await pair.onPhone.next('message', ({ data }) => data.content === `${content}, try ${attempt}`);
  }
  let probes = 0;

  const closingsOf = ({ onPhone, statesBefore }: Pair) =>
    onPhone.states.slice(statesBefore).filter(({ state }) => state === 'waiting' || state === 'refused');

  function violationsOf(pair: Pair): string[] {
    const { user, onPhone, acknowledged, refused } = pair;
    const events = onPhone.events;
    const seen = new Set(events.filter(({ name }) => name === 'message').map(({ data }) => (data as Shown).message_id));
    const resets = events.filter(({ name, data }) => name === 'ready' && !(data as { resumed: boolean }).resumed);
    // An old primary may answer after the stream was told of its successor.
    const lastReset = resets.at(-1)?.at ?? 0;
    const lost = acknowledged.filter(({ id, askedAt }) => !seen.has(id) && askedAt > lastReset);
    const live = events.filter(({ name, id }) => name === 'message' && id !== null);
    const ids = live.map(({ id }) => id);
    // Only messages that were sent after the previous one was accepted have an order. Probes do not, nor does a message
    // that was refused and may have been accepted later all the same.
    const oneAtATime = acknowledged.filter(({ content }) => /^\d+$/.test(content));
    const accepted = new Map(oneAtATime.map(({ id }, index) => [id, index]));
    const order = live.map(({ data }) => accepted.get((data as Shown).message_id)).filter((n) => n !== undefined);
    const contents = live.map(({ data }) => (data as Shown).content);
    const closed = closingsOf(pair);
    return [
      ...lost.map(({ content, at }) => `${user}: message ${content}, accepted at ${Math.round(at)}, was never seen`),
      ...(new Set(ids).size < ids.length ? [`${user}: an event came twice`] : []),
      ...(new Set(contents).size < contents.length ? [`${user}: one message under two ids`] : []),
      ...(order.some((n, i) => i > 0 && n <= (order[i - 1] as number))
        ? [`${user}: out of order: ${order.join(' ')}`]
        : []),
      ...(closed.length > 0 ? [`${user}: the stream was closed: ${JSON.stringify(closed[0])}`] : []),
      ...refused
        .filter(({ code, tookMs }) => code !== 'store_unavailable' || tookMs > 5_000)
        .map(({ code, tookMs }) => `${user}: refused with ${code} after ${Math.round(tookMs)} ms`),
    ];
  }

  return {
    pairs,
    get accepted() {
      return pairs.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
    },
    get refused() {
      return pairs.flatMap(({ refused }) => refused);
    },
    async flowing(which = () => true) {
      probes += 1;
      const content = `probe ${probes}`;
      await Promise.all(pairs.filter(which).map((pair) => received(pair, content)));
    },
    async finish() {
      isOver = true;
      await Promise.all(sending);
      await Promise.all(pairs.map((pair) => received(pair, 'the last one')));
    },
    violations: () => pairs.flatMap(violationsOf),
    closings: () => pairs.flatMap(closingsOf),
    slowestMs: () =>
      Math.max(
        ...pairs.flatMap(({ onPhone, acknowledged }) => {
          const accepted = new Map(acknowledged.map(({ id, at }) => [id, at]));
          const shown = onPhone.events.filter(({ name }) => name === 'message');
          return shown.map(({ data, at }) => at - (accepted.get((data as Shown).message_id) ?? at));
        }),
      ),
    resets: () =>
      pairs
        .flatMap(({ onPhone }) => onPhone.events.filter(({ name }) => name === 'ready').slice(1))
        .map(({ data }) => (data as { reason?: string }).reason ?? 'resumed'),
    givenUp: () =>
      pairs.flatMap(({ user, onPhone: { events } }) =>
        events.flatMap(({ name, data }, index) => {
          if (name !== 'ready' || (data as { resumed: boolean }).resumed) return [];
          const position = events.slice(0, index).findLast(({ id }) => id !== null)?.id ?? null;
          return position === null ? [] : [{ user, position }];
        }),
      ),
    async close() {
      isOver = true;
      await Promise.allSettled([...sending, ...pairs.map(({ onPhone }) => onPhone.stop())]);
    },
  };
}
