import type { OnReadOpts } from 'node:net';
import { Duplex } from 'node:stream';
import type { Happening, Owner } from './clock.ts';
import { SimulatedTimer } from './timers.ts';
import type { World } from './world.ts';

/** Receives what comes over a line. */
export interface Receiver {
  readonly owner: Owner;
  arrives(chunk: Buffer): void;
  ends(): void;
  breaks(): void;
}

/** The usual and the rare time of a chunk on its way. */
const QUICK_US = [50, 1_500] as const;
const SLOW_US = [5_000, 60_000] as const;
const SLOW_CHANCE = 0.01;

/** Draws how long a chunk is on its way, in microseconds. */
export function drawDelayUs({ random }: World): number {
  const [from, to] = random.next() < SLOW_CHANCE ? SLOW_US : QUICK_US;
  return random.between(from, to);
}

/** One direction of a connection. Everything arrives in its order, each chunk after a drawn time. */
export class Line {
  readonly #world: World;
  readonly #to: Receiver;
  #under: Happening[] = [];
  #latestUs = 0;
  #isOver = false;

  constructor(world: World, to: Receiver) {
    this.#world = world;
    this.#to = to;
  }

  send(chunk: Buffer): void {
    this.#pass(() => this.#to.arrives(chunk));
  }

  end(): void {
    this.#pass(() => this.#to.ends());
  }

  /** Tells the other end that the connection is gone, after what is on its way. */
  reset(): void {
    this.#pass(() => this.#to.breaks());
    this.#isOver = true;
  }

  /** Loses a part of what is on its way: from some point on, and everything later. */
  lose(): void {
    const left = this.#under.filter(({ run }) => run !== null);
    const kept = Math.floor(this.#world.random.next() * (left.length + 1));
    for (const happening of left.slice(kept)) happening.run = null;
    this.reset();
  }

  #pass(run: () => void): void {
    if (this.#isOver) return;
    const { clock } = this.#world;
    this.#latestUs = Math.max(this.#latestUs, clock.nowUs + Math.round(drawDelayUs(this.#world)));
    const happening = this.#world.after(this.#latestUs - clock.nowUs, this.#to.owner, () => {
      happening.run = null;
      run();
    });
    this.#under = [...this.#under.filter((one) => one.run !== null), happening];
  }
}

const broken = (code: string): Error => Object.assign(new Error(code), { code });

/** One end of a connection inside this process, with the parts of `net.Socket` that its users call. */
export class SimulatedSocket extends Duplex implements Receiver {
  readonly owner: Owner;
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort = 1;
  connecting = true;
  bytesRead = 0;
  bytesWritten = 0;
  /** The line to the other end. Set before anything is written. */
  line: Line | null = null;
  #silence: SimulatedTimer | null = null;
  #silenceMs = 0;

  /** Takes what comes in place of the stream, like the option `onread` of `net.connect`. */
  readonly #onRead: OnReadOpts | null;
  #held: Buffer[] = [];
  #isHeld = false;

  /** Whether the other end takes nothing, and what waits for it to go on. */
  #isHeldBack = false;
  #waiting: (() => void)[] = [];

  constructor(
    owner: Owner,
    {
      allowHalfOpen = false,
      onRead = null,
      spaceBytes,
    }: { allowHalfOpen?: boolean; onRead?: OnReadOpts | null; spaceBytes?: number } = {},
  ) {
    super({ allowHalfOpen, ...(spaceBytes !== undefined && { writableHighWaterMark: spaceBytes }) });
    this.owner = owner;
    this.#onRead = onRead;
    // The stream itself is read only for its end.
    if (onRead !== null) super.resume();
  }

  connected(): void {
    if (this.destroyed) return;
    this.connecting = false;
    this.emit('connect');
    this.emit('ready');
  }

  arrives(chunk: Buffer): void {
    if (this.destroyed) return;
    this.bytesRead += chunk.length;
    this.#silence?.refresh();
    if (this.#onRead === null) return void this.push(chunk);
    this.#held.push(chunk);
    this.#feed(this.#onRead);
  }

  ends(): void {
    if (!this.destroyed) this.push(null);
  }

  breaks(): void {
    this.destroy(broken('ECONNRESET'));
  }

  refuse(): void {
    this.destroy(broken('ECONNREFUSED'));
  }

  setTimeout(ms: number, run?: () => void): this {
    this.#silence?.clear();
    this.#silence = null;
    this.#silenceMs = ms;
    if (run) this.once('timeout', run);
    if (ms > 0) this.#silence = new SimulatedTimer({ run: () => this.emit('timeout'), words: [], us: ms * 1_000 });
    return this;
  }

  get timeout(): number {
    return this.#silenceMs;
  }

  override pause(): this {
    if (this.#onRead === null) return super.pause();
    this.#isHeld = true;
    return this;
  }

  override resume(): this {
    if (this.#onRead === null) return super.resume();
    this.#isHeld = false;
    this.#feed(this.#onRead);
    return this;
  }

  /** Passes on what has come, in parts as large as the reader's memory, until the reader pauses. */
  #feed({ buffer, callback }: OnReadOpts): void {
    while (!this.#isHeld && !this.destroyed) {
      const chunk = this.#held.shift();
      if (chunk === undefined) return;
      const memory = typeof buffer === 'function' ? buffer() : buffer;
      const part = chunk.subarray(0, memory.length);
      memory.set(part);
      if (part.length < chunk.length) this.#held.unshift(chunk.subarray(part.length));
      if (!callback(part.length, memory)) this.#isHeld = true;
    }
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    // Data is pushed when it comes.
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#onceTaken(() => {
      const bytes = Buffer.concat(chunks.map(({ chunk }) => chunk));
      this.bytesWritten += bytes.length;
      this.#silence?.refresh();
      this.line?.send(bytes);
      done();
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#onceTaken(() => {
      this.line?.end();
      done();
    });
  }

  /** The other end takes nothing from now on: what is written waits here. */
  hold(): void {
    this.#isHeldBack = true;
  }

  /** The other end takes everything again. */
  release(): void {
    this.#isHeldBack = false;
    for (const work of this.#waiting.splice(0)) if (!this.destroyed) work();
  }

  #onceTaken(work: () => void): void {
    if (this.connecting) this.once('connect', work);
    else if (this.#isHeldBack) this.#waiting.push(work);
    else work();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#silence?.clear();
    if (!this.writableFinished) this.line?.end();
    done(error);
  }
}
