import { check } from '../../chaos/checker/check.ts';
import {
  type Connection,
  type DeviceHistory,
  emptyHistory,
  type Fault,
  type Frame,
  type History,
  type Operation,
} from '../../chaos/history.ts';

/** Returns the kinds of violations found, each once. */
export const kindsFound = (history: History): string[] => [
  ...new Set(
    Object.values(check(history))
      .flat()
      .map((violation) => violation.check),
  ),
];

/** Frames of a kind, without the fields that every frame has. */
type Content = Frame extends infer F ? (F extends Frame ? Omit<F, 'at' | 'connection' | 'id'> : never) : never;

export const message = (operation: number, account = 'a'): Content => ({
  name: 'message',
  messageId: `m${operation}`,
  from: `${account}-0`,
  account,
  operation,
  redelivered: false,
});

export const clipboard = (operation: number, account = 'a'): Content => ({
  name: 'clipboard',
  source: `${account}-0`,
  account,
  operation,
});

export const ready = (reason: string | null, online = ['a-0', 'a-1'], offline: string[] = []): Content => ({
  name: 'ready',
  resumed: reason === null,
  reason,
  server: 's',
  snapshot: { version: 1, online, offline },
});

const device = (account: string, number: number): DeviceHistory => ({
  account,
  device: `${account}-${number}`,
  frames: [],
  connections: [],
  wanted: [{ from: 0, to: null }],
});

/** A short history of two accounts with two devices each, in which everything went well. Tests spoil it. */
export class Planted {
  readonly history: History = emptyHistory();
  #operations = 0;

  constructor() {
    for (const account of ['a', 'b']) {
      for (const number of [0, 1]) {
        const one = device(account, number);
        this.history.devices.push(one);
        this.connect(one.device, 1);
        this.receive(one.device, 2, ready('new', [`${account}-0`, `${account}-1`]), '1000-1');
      }
    }
  }

  of(name: string): DeviceHistory {
    const found = this.history.devices.find((one) => one.device === name);
    if (found === undefined) throw new Error(`no device ${name}`);
    return found;
  }

  /** Ends the device's connection and opens the next one. */
  connect(name: string, at: number, lastEventId: string | null = null): Connection {
    const { connections } = this.of(name);
    const last = connections.at(-1);
    if (last) Object.assign(last, { closedAt: at, cause: 'network' });
    const base = { replica: 'r1', startedAt: at, lastEventId, openAt: at, closedAt: null, cause: null };
    connections.push({ number: connections.length + 1, ...base });
    return connections.at(-1) as Connection;
  }

  receive(name: string, at: number, content: Content, id: string | null = null): void {
    const one = this.of(name);
    one.frames.push({ ...content, at, id, connection: one.connections.length });
  }

  /** Adds an acknowledged operation of the first device, for the second one. */
  ask(kind: 'message' | 'clipboard', at: number, account = 'a'): Operation {
    this.#operations += 1;
    const number = this.#operations;
    const asked = { number, account, device: `${account}-0`, sentAt: at, answeredAt: at + 1, code: null };
    const base = { ...asked, outcome: 'acknowledged' as const };
    const operation: Operation =
      kind === 'clipboard'
        ? { ...base, kind }
        : { ...base, kind, isProbe: false, messageId: `m${number}`, receivers: [`${account}-1`] };
    this.history.operations.push(operation);
    return operation;
  }

  /** Adds an acknowledgement that took all of the messages out of the mailbox. */
  acknowledge(by: string, at: number, messageIds: string[]): void {
    this.#operations += 1;
    const asked = { number: this.#operations, account: 'a', device: by, sentAt: at, answeredAt: at + 1, code: null };
    const outcome = 'acknowledged' as const;
    this.history.operations.push({ ...asked, kind: 'ack', outcome, messageIds, acked: messageIds.length });
  }

  /** Adds a message that arrives at once. */
  deliver(at: number, id: string): Operation {
    const operation = this.ask('message', at);
    this.receive('a-1', at + 1, message(operation.number), id);
    return operation;
  }

  fault(kind: string, from: number, to: number, rest: Partial<Fault> = {}): void {
    const harmless = {
      ...{ replica: null, accounts: null, loss: null },
      ...{ movedClock: false, hidesDevices: false, broken: null },
    };
    this.history.faults.push({ kind, target: 'r1', startedAt: from, endedAt: to, ...harmless, ...rest });
  }

  /** Adds a quiet moment: everybody was there, and anything sent more than ten seconds before must have arrived. */
  quiet(at: number, wanted = ['a-0', 'a-1'], online = wanted): void {
    this.history.checkpoints.push({
      number: this.history.checkpoints.length + 1,
      ...{ at, notOpen: [], probes: [], probesDueAt: at },
      presence: [{ account: 'a', online, wanted, stored: null }],
    });
  }
}
