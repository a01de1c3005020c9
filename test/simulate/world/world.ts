import { AsyncLocalStorage } from 'node:async_hooks';
import { makeRandom, type Random } from '../../chaos/random.ts';
import { type Happening, Owner, SimulatedClock } from './clock.ts';
import type { EventLog } from './event-log.ts';

/**
 * The real function, taken before anything is replaced. A turn of the real event loop runs all promises and ticks that are due.
 */
const realImmediate = setImmediate;
const turn = (): Promise<void> => new Promise((resolve) => void realImmediate(resolve));

interface Place {
  readonly world: World;
  readonly owner: Owner;
}

const place = new AsyncLocalStorage<Place>();

/** Returns the world and the owner of the running code; undefined outside every simulation. */
export const here = (): Place | undefined => place.getStore();

/**
 * One simulation: its clock, its draws, its log, and the loop that makes one thing happen at a time. It waits for nothing real
 * but the store, and the loop does nothing else while the store works.
 */
export class World {
  readonly clock = new SimulatedClock();
  readonly random: Random;
  readonly log: EventLog;
  readonly driver = new Owner('driver');
  readonly network = new Owner('network');
  #work: (() => Promise<void>)[] = [];

  constructor(seed: string, log: EventLog) {
    this.random = makeRandom(`simulate/${seed}`);
    this.log = log;
  }

  get nowMs(): number {
    return this.clock.nowUs / 1_000;
  }

  note(...words: (string | number)[]): void {
    this.log.add(`${this.clock.nowUs} ${words.join(' ')}`);
  }

  /** Runs code for an owner: what the code starts is theirs, too. */
  as<T>(owner: Owner, run: () => T): T {
    return place.run({ world: this, owner }, run);
  }

  after(us: number, owner: Owner, run: () => void): Happening {
    return this.clock.after(us, owner, run);
  }

  /** Makes the loop wait for real work before anything else happens. Called by the current event. */
  wait(work: () => Promise<void>): void {
    this.#work.push(work);
  }

  /** Makes things happen until `main` of the driver settles. Rejects when nothing is left to happen, or the time is over. */
  async run<T>(main: () => Promise<T>, mostMs: number): Promise<T> {
    let isOver = false;
    const result = this.as(this.driver, main).finally(() => {
      isOver = true;
    });
    result.catch(() => undefined);
    for (;;) {
      await turn();
      if (isOver) return await result;
      const happening = this.clock.next();
      if (happening === null) throw new Error('nothing is left to happen');
      if (this.nowMs > mostMs) throw new Error(`the simulation had not ended after ${mostMs} ms`);
      const { owner, run } = happening;
      if (run !== null) this.as(owner, run);
      for (let work = this.#work.shift(); work !== undefined; work = this.#work.shift()) await work();
    }
  }
}
