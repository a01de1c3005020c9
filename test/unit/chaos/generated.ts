import {
  type DeviceHistory,
  emptyHistory,
  type Fault,
  type Frame,
  type History,
  type Operation,
} from '../../chaos/history.ts';
import type { Random } from '../../chaos/random.ts';

const MINUTES = 5;
const ACCOUNTS = 5;
const REPLICAS = ['r1', 'r2', 'r3'];
const NUMBERS = [0, 1, 2, 3];

/** The time between two operations of an account. */
const EVERY_MS = [200, 1_500] as const;

/** Each minute has a quiet moment, before which nothing is sent for this long. */
const MINUTE_MS = 60_000;
const QUIET_MS = 15_000;

/** The faults of one minute: one fault of the store in the middle of two of replicas. */
interface Trouble {
  store: Fault & { servedFrom: number };
  /** When the store stops answering. */
  awayFrom: number;
  paused: Fault;
  killed: Fault;
}

/** A time in which a device gets nothing. */
interface Outage {
  from: number;
  to: number;
  /** How it ends: another stream follows, the device is told that events are missing, or what was held up flows on. */
  ends: 'reconnect' | 'reset' | 'flow';
  trouble: Trouble;
}

/** An event of the log. Its frame does not say yet when and where it came. */
interface Event {
  at: number;
  id: string;
  content: Record<string, unknown>;
  receivers: string[];
}

/**
 * A run in which every promise was kept, with faults that overlap: streams that break, stand still and are reset, and
 * writes that are lost. Everything without an excuse arrives exactly once.
 */
export function generate(random: Random): History {
  const history = emptyHistory();
  const kinds = random.shuffled(['primary-kill', 'redis-lost-tail', 'redis-wipe', 'redis-kill', 'primary-kill']);
  const troubles = kinds.map((kind, minute) =>
    troubleAt(minute * MINUTE_MS + random.between(8_000, 12_000), kind, random),
  );
  history.faults = troubles.flatMap(({ store, paused, killed }) => [store, paused, killed]);
  for (let i = 0; i < ACCOUNTS; i++) addAccount(history, `g${i}`, troubles, random.fork(`account ${i}`));
  for (let number = 1; number <= MINUTES; number++) {
    const at = number * MINUTE_MS;
    history.checkpoints.push({ number, at, notOpen: [], presence: [], probes: [], probesDueAt: at });
  }
  return history;
}

function troubleAt(at: number, kind: string, random: Random): Trouble {
  const none = { accounts: null, loss: null, movedClock: false, hidesDevices: false, broken: null };
  const [paused, killed] = random.shuffled(REPLICAS) as [string, string];
  const [until, servedFrom] = [at + 2_000, at + 4_000];
  const loss = { since: kind === 'redis-wipe' ? null : at, until, times: 1 };
  // A killed primary comes back long after its successor began to serve.
  const endedAt = kind === 'primary-kill' ? at + 17_000 : servedFrom;
  const isLoss = kind !== 'redis-kill';
  const times = { startedAt: at, endedAt, servedFrom };
  return {
    store: { ...none, kind, target: 'store', replica: null, ...times, loss: isLoss ? loss : null },
    awayFrom: isLoss ? until : at,
    paused: {
      ...{ ...none, kind: 'pause-long', target: paused, replica: paused },
      ...{ startedAt: at - 3_000, endedAt: at + 6_000, hidesDevices: true },
    },
    killed: { ...none, kind: 'kill', target: killed, replica: killed, startedAt: at + 9_000, endedAt: at + 12_000 },
  };
}

const isAway = (troubles: Trouble[], at: number): boolean =>
  troubles.some(({ awayFrom, store }) => at >= awayFrom && at < store.servedFrom);

/** Tells whether the write was in a tail that was lost, or in a store that lost everything afterwards. */
const isLost = ({ store: { loss } }: Trouble, at: number): boolean =>
  loss !== null && at >= (loss.since ?? 0) && at < (loss.until ?? 0);

/** A position names its moment. Operations have even moments and resets odd ones, so that no two share one. */
const idAt = (at: number): string => `${1_000_000 + at}-1`;
const even = (at: number): number => Math.round(at / 2) * 2;

function addAccount(history: History, account: string, troubles: Trouble[], random: Random): void {
  const names = NUMBERS.map((i) => `${account}-${i}`);
  const events: Event[] = [];
  const write = (operation: Operation, content: Record<string, unknown>, receivers: string[]): void => {
    history.operations.push(operation);
    const { sentAt: at } = operation;
    if (isAway(troubles, at)) Object.assign(operation, { outcome: 'unknown', code: 'store_unavailable' });
    else events.push({ at, id: idAt(at), content, receivers });
  };
  let at = 1_000;
  for (;;) {
    at += even(random.between(...EVERY_MS));
    if (at % MINUTE_MS > MINUTE_MS - QUIET_MS) at += QUIET_MS;
    if (at > MINUTES * MINUTE_MS - QUIET_MS) break;
    const number = history.operations.length + 1;
    const [device, receiver] = random.shuffled(names) as [string, string];
    const asked = {
      number,
      account,
      device,
      sentAt: at,
      answeredAt: at + 1,
      outcome: 'acknowledged',
      code: null,
    } as const;
    const choice = random.next();
    if (choice < 0.5) {
      const messageId = `m${number}`;
      const content = { name: 'message', messageId, from: device, account, operation: number, redelivered: false };
      write({ ...asked, kind: 'message', isProbe: false, messageId, receivers: [receiver] }, content, [receiver]);
      at += 50;
      const ack = { ...asked, number: number + 1, device: receiver, sentAt: at, answeredAt: at + 1 };
      const delivered = { name: 'message:delivered', messageIds: [messageId], by: receiver };
      write({ ...ack, kind: 'ack', messageIds: [messageId], acked: 1 }, delivered, [device]);
    } else if (choice < 0.8) {
      write({ ...asked, kind: 'clipboard' }, { name: 'clipboard', source: device, account, operation: number }, names);
    } else {
      const content = { name: 'device:renamed', renamed: receiver, operation: number };
      write({ ...asked, kind: 'rename', renamed: receiver }, content, names);
    }
  }
  for (const name of names) history.devices.push(deviceOf({ account, name, names, events, troubles, random }));
}

interface DeviceParts {
  account: string;
  name: string;
  names: string[];
  events: Event[];
  troubles: Trouble[];
  random: Random;
}

/** Returns the replicas of the device's streams, and the times when nothing came through them. */
function outagesOf({ events, troubles, random }: DeviceParts): { outages: Outage[]; replicas: string[] } {
  const replicas = [random.pick(REPLICAS)];
  const outages = troubles.flatMap((trouble): Outage[] => {
    const { store, awayFrom, paused, killed } = trouble;
    const replica = replicas.at(-1) as string;
    const ends = events.some(({ at }) => isLost(trouble, at)) ? ('reset' as const) : ('flow' as const);
    const [from, to] = replica === paused.replica ? [paused.startedAt, paused.endedAt] : [awayFrom, store.servedFrom];
    const first: Outage = { from, to: even(to) + 1, ends, trouble };
    if (replica !== killed.replica) return [first];
    replicas.push(random.pick(REPLICAS.filter((one) => one !== replica)));
    return [first, { from: killed.startedAt, to: even(killed.startedAt) + 801, ends: 'reconnect', trouble }];
  });
  return { outages, replicas };
}

/** Records the history of a device, frame by frame. */
class Recorder {
  readonly history: DeviceHistory;
  readonly #names: string[];
  readonly #replicas: string[];
  held: string | null = null;

  constructor({ account, name, names }: DeviceParts, replicas: string[]) {
    this.history = { account, device: name, frames: [], connections: [], wanted: [{ from: 0, to: null }] };
    this.#names = names;
    this.#replicas = replicas;
  }

  take(at: number, content: Record<string, unknown>, id: string | null): void {
    const { frames, connections } = this.history;
    frames.push({ ...content, at, id, connection: connections.length } as Frame);
    if (id !== null) this.held = id;
  }

  sendReady(at: number, reason: string | null, id: string | null): void {
    const snapshot = { version: at, online: this.#names, offline: [] };
    this.take(at, { name: 'ready', resumed: reason === null, reason, server: 's', snapshot }, id);
  }

  /** Connects to the next of its replicas. */
  connect(at: number): void {
    const { connections } = this.history;
    const replica = this.#replicas[connections.length] as string;
    const rest = { startedAt: at - 1, lastEventId: this.held, openAt: at, closedAt: null, cause: null };
    connections.push({ number: connections.length + 1, replica, ...rest });
  }
}

function deviceOf(parts: DeviceParts): DeviceHistory {
  const { outages, replicas } = outagesOf(parts);
  const recorder = new Recorder(parts, replicas);
  const own = parts.events.filter(({ receivers }) => receivers.includes(parts.name));
  let since = 0;
  const eventsUntil = (until: number): Event[] => {
    const from = since;
    since = until;
    return own.filter(({ at }) => at >= from && at < until);
  };
  recorder.connect(1);
  recorder.sendReady(1, 'new', idAt(1));
  for (const { from, to, ends, trouble } of outages) {
    for (const { at, content, id } of eventsUntil(from)) recorder.take(at + 2, content, id);
    const heldUp = eventsUntil(to);
    if (ends === 'reconnect') {
      Object.assign(recorder.history.connections.at(-1) ?? {}, { closedAt: from, cause: 'network' });
      recorder.connect(to);
      recorder.sendReady(to, null, null);
    }
    if (ends === 'reset') recorder.sendReady(to, 'gap', idAt(to));
    for (const { at, content, id } of heldUp) {
      if (ends !== 'reset') recorder.take(to + 1, content, id);
      // A message that was given up but not lost waits in the mailbox.
      else if (content.name === 'message' && !isLost(trouble, at))
        recorder.take(to + 1, { ...content, redelivered: true }, null);
    }
  }
  for (const { at, content, id } of eventsUntil(Infinity)) recorder.take(at + 2, content, id);
  return recorder.history;
}
