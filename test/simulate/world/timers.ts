import type { Happening } from './clock.ts';
import { here } from './world.ts';

/** A timer fires late by up to this much, as in a busy event loop, so that simultaneous timers fire in any order. */
const LATE_US = 400;

interface TimerParts {
  run: (...words: unknown[]) => void;
  words: unknown[];
  us: number;
  repeats?: boolean;
  isExact?: boolean;
}

/** The return value of the timer functions in a simulation. It belongs to the owner whose code made it. */
export class SimulatedTimer {
  readonly #parts: TimerParts;
  readonly #place: NonNullable<ReturnType<typeof here>>;
  #next: Happening | null = null;

  constructor(parts: TimerParts) {
    const place = here();
    if (place === undefined) throw new Error('a simulated timer outside of a simulation');
    this.#parts = parts;
    this.#place = place;
    this.#start();
  }

  clear(): void {
    if (this.#next) this.#next.run = null;
    this.#next = null;
  }

  refresh(): this {
    this.clear();
    this.#start();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return this.#next !== null;
  }

  #start(): void {
    const { us, run, words, repeats = false, isExact = false } = this.#parts;
    const { world, owner } = this.#place;
    const lateUs = isExact ? 0 : world.random.next() * LATE_US;
    this.#next = world.after(us + lateUs, owner, () => {
      this.#next = null;
      if (repeats) this.#start();
      run(...words);
    });
  }
}
