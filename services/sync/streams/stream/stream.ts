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
import { StreamState, type TransitionName } from './stream-state.ts';

/** Number of failed attaches in a row after which the stream reports `degraded`: some seconds. */
const FAILED_ATTACHES_TO_DEGRADE = 4;

interface StreamParts {
  res: ServerResponse;
  caller: Caller;
  /** A device id, or `~<name>` for a stream without a device. */
  device: string;
  /** The position that the client sent; '' when it sent none. */
  position: string;
  rotateAtMs: number;
}

/** One subscriber: a client's socket, its position in the log of its account, and its state. */
export class Stream {
  /** Never used again, so a row marked closed stays closed. */
  readonly id = randomId(9);
  readonly caller: Caller;
  readonly account: string;
  readonly device: string;
  /** Time at which the client asked for the stream. */
  readonly askedAtMs = performance.now();
  readonly position: LogPosition;
  readonly attaches = new Attaches();
  readonly rotation: Rotation;
  /** Only this class ends it. */
  readonly socket: Omit<StreamSocket, 'farewell' | 'release'>;
  /** Only this class restarts, ends and closes it. */
  readonly state: Omit<StreamState, 'go'> & {
    go(transition: Exclude<TransitionName, 'restarted' | 'ended' | 'closed'>): boolean;
  };
  readonly #socket: StreamSocket;
  readonly #state = new StreamState();
  #closeReason = 'client';
  /** `outdated`: the client has a presence that only another `ready` corrects. */
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

  get isOver(): boolean {
    return this.#state.isOver;
  }

  /** Why the stream was ended; `client` when this replica did not end it. */
  get closeReason(): string {
    return this.#closeReason;
  }

  /**
   * Opens the stream again after its position or presence was lost; it then needs all of the presence. Returns false
   * when its state does not allow it.
   */
  restart(): boolean {
    if (!this.#state.go('restarted')) return false;
    this.attaches.takePostponed();
    this.#presenceVersion = 0;
    return true;
  }

  /** Tells the client why and when to come back, then ends the stream; does nothing when it is over. */
  end(reason: ReconnectReason, retryMs: number): void {
    const isNews = this.#end(reason, reconnectFrame(reason, retryMs));
    // A socket that does not drain would keep its buffer for as long as the client sleeps.
    if (isNews && reason === 'slow') this.#socket.destroy();
  }

  /** Tells the client that its session is over, then ends the stream. */
  endRevoked(reason: RevokedReason): void {
    this.#end('revoked', frame('session:revoked', JSON.stringify({ reason })));
  }

  /**
   * Closes the stream, because the response has closed or another answer is given in its place. Returns false when it
   * was closed before.
   */
  close(): boolean {
    if (!this.#state.go('closed')) return false;
    this.#socket.release();
    return true;
  }

  /** Whether `ready` was written; nothing else may be written before it. */
  get readySent(): boolean {
    return this.#ready !== 'due';
  }

  /** Whether the stream needs a `ready`, the first or another one. */
  get needsReady(): boolean {
    return this.#ready !== 'sent';
  }

  /**
   * Writes `ready`. `resetTo` is the end of the log, from which the stream goes on if its own position was lost. With
   * null, a first `ready` leaves the client at the position that it sent.
   */
  sendReady(chunk: Buffer, resetTo: string | null, presenceVersion: number, hasPending: boolean): void {
    if (resetTo !== null) this.position.advance(resetTo);
    if (resetTo !== null || !this.readySent) this.position.noteSent(performance.now());
    this.#pending = hasPending ? { position: this.position.id, written: new Set() } : null;
    this.#presenceVersion = presenceVersion;
    this.#ready = 'sent';
    this.#socket.write(chunk);
  }

  /** Notes that the store lost the presence that was sent last. */
  outdateReady(): void {
    if (this.#ready === 'sent') this.#ready = 'outdated';
  }

  /** Version of the presence that was sent last; 0 when none is known to have arrived. */
  get presenceVersion(): number {
    return this.#presenceVersion;
  }

  /** Returns whether presence of this version is newer than what was sent and can be written now. */
  lacksPresence(version: number): boolean {
    return this.readySent && this.#socket.writable && this.#presenceVersion < version;
  }

  sendPresence(version: number, chunk: Buffer): void {
    this.#presenceVersion = version;
    this.#socket.write(chunk);
  }

  /** Writes a frame that has the position as its id. Returns false when the socket is full. */
  writePosition(chunk: Buffer, nowMs = performance.now()): boolean {
    this.position.noteSent(nowMs);
    return this.#socket.write(chunk, nowMs);
  }

  /** What is pending beside the log; null when nothing is. */
  get pending(): PendingFrom | null {
    return this.#pending;
  }

  /** Notes that all that was pending was written. */
  pendingWritten(): void {
    this.#pending = null;
  }

  /** Whether the client was told that the store is away. */
  get isDegraded(): boolean {
    return this.#degraded;
  }

  /** Tells the client once that the store is away. The stream stays open. */
  degrade(): void {
    if (!this.readySent || this.#degraded) return;
    this.#degraded = true;
    this.#socket.write(frame('degraded', '{"reason":"store"}'));
  }

  /**
   * Notes a failed attach, and returns how many failed in a row. In a cluster only these show that the primary of this
   * account alone is away.
   */
  attachFailed(): number {
    const failures = this.attaches.failed();
    if (failures >= FAILED_ATTACHES_TO_DEGRADE) this.degrade();
    return failures;
  }

  /** Notes that the store has answered for this stream. */
  attachAnswered(): void {
    this.attaches.answered();
    if (!this.#degraded) return;
    this.#degraded = false;
    this.#socket.write(frame('restored', '{"reason":"store"}'));
  }

  /** Returns whether for `forMs` nothing was written, or no frame has carried the changed position to the client. */
  isQuiet(nowMs: number, forMs: number): boolean {
    return nowMs - this.#socket.lastWriteMs >= forMs || this.position.isUnsent(nowMs, forMs);
  }

  #end(reason: string, lastFrame: Buffer): boolean {
    if (!this.#state.go('ended')) return false;
    this.#closeReason = reason;
    this.#socket.farewell(lastFrame);
    return true;
  }
}
