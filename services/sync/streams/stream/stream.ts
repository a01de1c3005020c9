import type { ServerResponse } from 'node:http';
import type { RevokedReason } from '../../../../shared/contract/modules/sessions.ts';
import type { ReconnectReason } from '../../../../shared/contract/modules/stream.ts';
import { randomId } from '../../../../shared/service-kit/random-id.ts';
import type { Caller } from '../../identity/caller.ts';
import { Attaches } from './attaches.ts';
import { frame, reconnectFrame } from './frames.ts';
import { LogPosition, type PendingFrom } from './log-position.ts';
import { Rotation } from './rotation.ts';
import { StreamSocket } from './stream-socket.ts';
import { StreamState } from './stream-state.ts';

/** Attaches in vain, one after the other: some seconds. */
const FAILED_ATTACHES_TO_DEGRADE = 4;

interface StreamParts {
  res: ServerResponse;
  caller: Caller;
  /** A device id, or `~<name>` for a stream without a device. */
  device: string;
  /** Where the client says that it is; '' where it says nothing. */
  position: string;
  rotateAtMs: number;
}

/** One subscriber: a client's socket, where it stands in the log of its account, and what it is doing. */
export class Stream {
  /** Never used again, so a row marked closed stays closed. */
  readonly id = randomId(9);
  readonly caller: Caller;
  readonly account: string;
  readonly device: string;
  /** When the client asked for it. */
  readonly askedAtMs = performance.now();
  readonly position: LogPosition;
  readonly attaches = new Attaches();
  readonly rotation: Rotation;
  /** Ended by this class alone. */
  readonly socket: Omit<StreamSocket, 'farewell' | 'release'>;
  /** Restarted, ended and closed by this class alone. */
  readonly state: Omit<StreamState, 'restarted' | 'ended' | 'closed'>;
  readonly #socket: StreamSocket;
  readonly #state = new StreamState();
  #closeReason = 'client';
  /** `outdated`: the client believes what only another `ready` takes back. */
  #ready: 'due' | 'sent' | 'outdated' = 'due';
  #presenceVersion = 0;
  #pending: PendingFrom | null = null;
  #degraded = false;

  constructor({ res, caller, device, position, rotateAtMs }: StreamParts) {
    this.caller = caller;
    this.account = caller.account;
    this.device = device;
    this.position = new LogPosition(position);
    this.#socket = new StreamSocket(res);
    this.socket = this.#socket;
    this.state = this.#state;
    this.rotation = new Rotation(rotateAtMs);
  }

  /** Nothing will be written any more. */
  get isOver(): boolean {
    return this.#state.isOver;
  }

  /** Why it was ended; `client` where nobody here ended it. */
  get closeReason(): string {
    return this.#closeReason;
  }

  /** Its position or its presence was lost: it is opened anew, and needs all of the presence. False: it cannot be. */
  restart(): boolean {
    if (!this.#state.restarted()) return false;
    this.attaches.takePostponed();
    this.#presenceVersion = 0;
    return true;
  }

  /** Tells the client why and when to come back, then ends the stream; nothing when it is over. */
  end(reason: ReconnectReason, retryMs: number): void {
    const isNews = this.#end(reason, reconnectFrame(reason, retryMs));
    // A socket that does not drain would keep its buffer for as long as the client sleeps.
    if (isNews && reason === 'slow') this.#socket.destroy();
  }

  /** Tells the client that its session is over, then ends the stream. */
  endRevoked(reason: RevokedReason): void {
    this.#end('revoked', frame('session:revoked', JSON.stringify({ reason })));
  }

  /** The response has closed, or another answer is given in its place. False: it has closed before. */
  close(): boolean {
    if (!this.#state.closed()) return false;
    this.#socket.release();
    return true;
  }

  /** `ready` was written; before that nothing else may be. */
  get readySent(): boolean {
    return this.#ready !== 'due';
  }

  /** It needs a `ready`, the first or another one. */
  get needsReady(): boolean {
    return this.#ready !== 'sent';
  }

  /**
   * Writes `ready`. `resetTo`: the end of the log, from which it goes on where its own position was lost; else a first
   * one leaves the client where it said that it was.
   */
  sendReady(chunk: Buffer, resetTo: string | null, presenceVersion: number, hasPending: boolean): void {
    if (resetTo !== null) this.position.advance(resetTo);
    if (resetTo !== null || !this.readySent) this.position.noteSent(performance.now());
    this.#pending = hasPending ? { position: this.position.id, written: new Set() } : null;
    this.#presenceVersion = presenceVersion;
    this.#ready = 'sent';
    this.#socket.write(chunk);
  }

  /** The store lost the presence that was sent last. */
  outdateReady(): void {
    if (this.#ready === 'sent') this.#ready = 'outdated';
  }

  /** The version of the presence that was sent last; 0: none is known to have arrived. */
  get presenceVersion(): number {
    return this.#presenceVersion;
  }

  /** Presence of this version can be written now, and is newer than what was sent. */
  lacksPresence(version: number): boolean {
    return this.readySent && this.#socket.writable && this.#presenceVersion < version;
  }

  /** Writes a newer presence. */
  sendPresence(version: number, chunk: Buffer): void {
    this.#presenceVersion = version;
    this.#socket.write(chunk);
  }

  /** Writes a frame that has the position as its id. False: the socket is full. */
  writePosition(chunk: Buffer, nowMs = performance.now()): boolean {
    this.position.noteSent(nowMs);
    return this.#socket.write(chunk, nowMs);
  }

  /** What is pending beside the log; null: nothing. */
  get pending(): PendingFrom | null {
    return this.#pending;
  }

  /** All of it was written. */
  pendingWritten(): void {
    this.#pending = null;
  }

  /** The client was told that the store is away. */
  get isDegraded(): boolean {
    return this.#degraded;
  }

  /** The store is away: the stream stays, and says so once. */
  degrade(): void {
    if (!this.readySent || this.#degraded) return;
    this.#degraded = true;
    this.#socket.write(frame('degraded', '{"reason":"store"}'));
  }

  /** Returns the attaches in vain. In a cluster the primary of this account may be away alone: only they tell it. */
  attachFailed(): number {
    const failures = this.attaches.failed();
    if (failures >= FAILED_ATTACHES_TO_DEGRADE) this.degrade();
    return failures;
  }

  /** The store has answered for this stream. */
  attachAnswered(): void {
    this.attaches.answered();
    if (!this.#degraded) return;
    this.#degraded = false;
    this.#socket.write(frame('restored', '{"reason":"store"}'));
  }

  /** For so long nothing was written, or its position has moved and no frame has carried it to the client. */
  isQuiet(nowMs: number, forMs: number): boolean {
    return nowMs - this.#socket.lastWriteMs >= forMs || this.position.isUnsent(nowMs, forMs);
  }

  #end(reason: string, lastFrame: Buffer): boolean {
    if (!this.#state.ended()) return false;
    this.#closeReason = reason;
    this.#socket.farewell(lastFrame);
    return true;
  }
}
