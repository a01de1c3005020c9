import { type Client, makeClient } from '../../../shared/client/http/client.ts';
import { makeStream, type Stream } from '../../../shared/client/stream/stream.ts';
import type { StreamState } from '../../../shared/client/stream/stream-state.ts';
import type { Connection, DeviceHistory, Frame } from '../history.ts';
import type { Random } from '../random.ts';
import { frameOf } from './frames.ts';

export const HEARTBEAT_MS = 2_000;

/**
 * A client's back-off reaches half a minute. Here it reaches a quarter of that, so that a quiet moment need not wait
 * for it.
 */
const HASTE = 0.25;
const CALL_TIMEOUT_MS = 5_000;

interface DeviceParts {
  account: string;
  id: string;
  name: string;
  /** Returns the target of the next request. */
  chooseUrl: () => string;
  replicaNameOf: (url: string) => string;
  random: Random;
  now: () => number;
  onMessage: (device: ChaosDevice, messageId: string) => void;
}

/** A device: its stream, with everything on it written down, and its calls, each to any of the replicas. */
export class ChaosDevice {
  readonly account: string;
  readonly id: string;
  readonly name: string;
  readonly history: DeviceHistory;
  readonly client: Client;
  readonly #parts: DeviceParts;
  readonly #stream: Stream;
  /** The devices that it was last told are online. */
  believedOnline: readonly string[] = [];
  /** The operations of the messages that came. The history is too long to be searched each time. */
  readonly #messages = new Set<number | null>();
  #connection: Connection | null = null;
  #connections = 0;

  constructor(parts: DeviceParts) {
    const { account, id, name, random, chooseUrl } = parts;
    this.#parts = parts;
    this.account = account;
    this.id = id;
    this.name = name;
    this.history = { account, device: id, frames: [], connections: [], wanted: [] };
    const headers = { 'X-Dev-User': account, 'X-Dev-Device': id, 'X-Dev-Name': name, 'X-Dev-Type': 'linux' };
    this.client = makeClient({ baseUrl: chooseUrl, headers, timeoutMs: CALL_TIMEOUT_MS, random: random.next });
    this.#stream = makeStream({
      ...{ baseUrl: chooseUrl, headers, heartbeatMs: HEARTBEAT_MS, dropDuplicates: false },
      random: () => random.next() * HASTE,
      fetch: (url, init) => this.#connect(url, init),
      onEvent: (event) => this.#record(frameOf(event, parts.now(), this.#connections)),
      onState: (state) => this.#follow(state),
    });
  }

  get isWanted(): boolean {
    return this.history.wanted.at(-1)?.to === null;
  }

  get isOpen(): boolean {
    return this.#connection !== null && this.#connection.openAt !== null && this.#connection.closedAt === null;
  }

  /** Tells whether a message of this operation was seen. */
  sawOperation(number: number): boolean {
    return this.#messages.has(number);
  }

  listen(): void {
    if (this.isWanted) return;
    this.history.wanted.push({ from: this.#parts.now(), to: null });
    this.#stream.start();
  }

  /** Closes the stream without a word, as a laptop's lid does. */
  async leave(): Promise<void> {
    const last = this.history.wanted.at(-1);
    if (last) last.to = this.#parts.now();
    await this.#stream.stop();
  }

  #connect(url: string, init: RequestInit): Promise<Response> {
    this.#connections += 1;
    this.#connection = {
      number: this.#connections,
      replica: this.#parts.replicaNameOf(url),
      startedAt: this.#parts.now(),
      lastEventId: new Headers(init.headers).get('Last-Event-ID'),
      ...{ openAt: null, closedAt: null, cause: null },
    };
    this.history.connections.push(this.#connection);
    return globalThis.fetch(url, init);
  }

  #follow(state: StreamState): void {
    const connection = this.#connection;
    if (connection === null || connection.closedAt !== null) return;
    if (state.state === 'open') connection.openAt ??= this.#parts.now();
    else if (state.state !== 'connecting') {
      connection.closedAt = this.#parts.now();
      connection.cause = state.state === 'waiting' ? state.cause : state.state;
    }
  }

  #record(frame: Frame): void {
    this.history.frames.push(frame);
    if (frame.name === 'ready' || frame.name === 'presence') this.believedOnline = frame.snapshot.online;
    if (frame.name === 'message') this.#messages.add(frame.operation);
    if (frame.name === 'message') this.#parts.onMessage(this, frame.messageId);
  }
}
