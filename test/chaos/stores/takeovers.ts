import type { Redis } from 'ioredis';
import { type Fault, UNPLANNED } from '../history.ts';
import { LAG_MS } from './primaries.ts';
import type { Replicated } from './store.ts';
import { wait } from '../wait.ts';

const CHECK_EVERY_MS = 500;

/** A takeover is seen a little after it happened. A planned one may be over by then. */
const SEEN_WITHIN_MS = 1_000;

/** The longest wait for a server that follows its successor late, or is dead. */
const SETTLED_WITHIN_MS = 30_000;

type Role = 'primary' | 'following' | 'not following';

async function roleOf(look: Redis): Promise<Role | undefined> {
  const answer = (await look.call('ROLE').catch(() => undefined)) as [string, string?, number?, string?] | undefined;
  if (answer?.[0] === 'master') return 'primary';
  if (answer?.[0] === 'slave') return answer[3] === 'connected' ? 'following' : 'not following';
  return undefined;
}

interface TakeoversParts {
  /** Null: a store of one node. */
  replicated: Replicated | null;
  /** Takes failovers that nobody planned, once they are over. */
  faults: Fault[];
  now: () => number;
  say: (text: string) => void;
}

/**
 * On a busy machine a store fails over by itself, and loses what a planned failover loses. A server that becomes a
 * primary while no fault replaces one is a fault of its own. That fault lasts from the silence that it takes to be
 * taken for dead until the old primary follows, because the old one may go on accepting writes that are lost.
 */
export class Takeovers {
  readonly #parts: TakeoversParts;
  readonly #roles = new Map<Redis, Role>();
  /** The number of primaries when all is well. */
  #primaries = 0;
  /** Takeovers that are meant, each of one node. They count until a while after their cause is over. */
  readonly #expected = new Set<{ until: number }>();
  readonly #unsettled = new Set<Promise<void>>();
  #seen = 0;
  #isOver = false;

  constructor(parts: TakeoversParts) {
    this.#parts = parts;
  }

  /** How many unplanned takeovers were seen. */
  get seen(): number {
    return this.#seen;
  }

  /** Looks at every node, from now until `stop`. Resolves when all were seen once. */
  async start(): Promise<void> {
    const { looks = [] } = this.#parts.replicated ?? {};
    await Promise.all(looks.map((look) => this.#look(look)));
    this.#primaries = [...this.#roles.values()].filter((role) => role === 'primary').length;
    for (const look of looks) void this.#keepLooking(look);
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Expects a takeover: until the returned function is called, the first server to become a primary is meant to. */
  expect(): () => void {
    const one = { until: Infinity };
    this.#expected.add(one);
    return () => {
      one.until = this.#parts.now() + SEEN_WITHIN_MS;
    };
  }

  #isExpected(): boolean {
    for (const one of this.#expected) {
      this.#expected.delete(one);
      if (this.#parts.now() <= one.until) return true;
    }
    return false;
  }

  /** Resolves when the takeovers seen so far are over and written down. */
  async settled(): Promise<void> {
    await Promise.all(this.#unsettled);
  }

  async #keepLooking(look: Redis): Promise<void> {
    while (!this.#isOver) {
      await wait(CHECK_EVERY_MS);
      await this.#look(look);
    }
  }

  async #look(look: Redis): Promise<void> {
    const role = await roleOf(look);
    const before = this.#roles.get(look);
    if (role === undefined || this.#isOver) return;
    this.#roles.set(look, role);
    if (role !== 'primary' || before === undefined || before === 'primary') return;
    if (this.#isExpected()) return;
    this.#seen += 1;
    const settling = this.#writeDown(look).finally(() => this.#unsettled.delete(settling));
    this.#unsettled.add(settling);
  }

  async #writeDown(look: Redis): Promise<void> {
    const { faults, now, say, replicated } = this.#parts;
    const seenAt = now();
    const startedAt = seenAt - (replicated?.deadAfterMs ?? 0) - LAG_MS;
    do await wait(CHECK_EVERY_MS * 2);
    while (!this.#isOver && !this.#isWhole() && now() < seenAt + SETTLED_WITHIN_MS);
    const endedAt = now();
    const target = `to ${look.options.port}`;
    say(`${UNPLANNED} ${target}, ${Math.round(startedAt)} to ${Math.round(endedAt)}: NOBODY PLANNED IT`);
    faults.push({
      ...{
        kind: UNPLANNED,
        target,
        replica: null,
        accounts: null,
        startedAt,
        endedAt,
        broken: null,
        holdsLeases: true,
      },
      loss: { since: startedAt - LAG_MS, times: 1 },
      // After the first clock was set, the next primary may have another one.
      movedClock: faults.some(({ movedClock }) => movedClock),
      hidesDevices: true,
    });
  }

  /** There are as many primaries as ever, and all other servers follow. */
  #isWhole(): boolean {
    const roles = [...this.#roles.values()];
    const primaries = roles.filter((role) => role === 'primary').length;
    return primaries === this.#primaries && !roles.includes('not following');
  }
}
