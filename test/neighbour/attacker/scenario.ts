import type { RouteName } from '../../../shared/contract/routes.ts';
import type { Answer, Ask, Call } from '../load/http.ts';
import { allowedPerSecond } from '../load/limits.ts';
import { type LoopFigures, startLoop } from '../load/pace.ts';

/** The client address of the attacker. It must not share limits by address with the other account. */
export const ADDRESS = '127.0.0.2';

/** Factor over the limit of a route. Beyond the limit the attacker gets 429. */
const OVERSHOOT = 1.5;
/** The most requests a second of one loop, and its rate if no limit is known. */
const MOST_PER_SECOND = 50;
const AT_ONCE = 8;
/** The pace without limits: as many requests at once as the replicas take. */
const UNBOUNDED = { perSecond: 2_000, atOnce: 64 };

export interface AttackDevice {
  readonly id: string;
  readonly name: string;
  /** The replica that it uses. */
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** The results of a scenario: answers by status and code, and how much of what was due it began. */
export interface ScenarioFigures extends LoopFigures {
  answers: Record<string, number>;
}

/** The means of every scenario: the devices of the account, and a client that counts the answers. */
export interface Attack {
  readonly account: string;
  readonly urls: readonly [string, string];
  readonly devices: readonly AttackDevice[];
  /** A service that takes connections and never says a word. */
  readonly silentPort: number;
  ask(device: AttackDevice, call: Call): Promise<Answer>;
  /** Counts anything that is not an HTTP answer. */
  note(what: string): void;
  /** Does `act` at the limit of the route, for all devices in turn. */
  loop(route: RouteName, act: (device: AttackDevice, number: number) => Promise<unknown>, atOnce?: number): void;
  /** Called when the scenario ends. */
  onEnd(end: () => void): void;
}

export interface Scenario {
  readonly name: string;
  /** What the scenario does, for people. */
  readonly what: string;
  /** Matches an answer that shows that the attack gets through: `status` or `status code`. */
  readonly works: RegExp;
  /** Runs once, before anything is measured. */
  prepare?(attack: Attack): Promise<void>;
  begin(attack: Attack): void;
}

interface RunningParts {
  account: string;
  urls: readonly [string, string];
  devices: readonly AttackDevice[];
  silentPort: number;
  ask: Ask;
  /** No limits are in force. */
  unlimited: boolean;
}

/** A scenario at work. */
export interface Running extends Attack {
  /** Requests a second that its loops would make. */
  perSecond(): number;
  /** Starts its loops, at a share of their pace. */
  start(share: number): void;
  end(): Promise<ScenarioFigures>;
}

export function makeRunning(parts: RunningParts): Running {
  const { devices, ask, unlimited } = parts;
  const answers: Record<string, number> = {};
  const wanted: { perSecond: number; atOnce: number; act: (i: number) => Promise<unknown> }[] = [];
  let loops: (() => Promise<LoopFigures>)[] = [];
  const ends: (() => void)[] = [];
  const note = (what: string): void => {
    answers[what] = (answers[what] ?? 0) + 1;
  };
  return {
    ...parts,
    note,
    async ask(device, call) {
      const answer = await ask(device.url, { ...call, headers: { ...device.headers, ...call.headers } });
      note(`${answer.status} ${answer.code}`.trim());
      return answer;
    },
    loop(route, act, atOnce = AT_ONCE) {
      const allowed = allowedPerSecond(route, devices.length) ?? MOST_PER_SECOND;
      const bounded = { perSecond: Math.min(MOST_PER_SECOND, allowed * OVERSHOOT), atOnce };
      const bounds = unlimited ? UNBOUNDED : bounded;
      wanted.push({ ...bounds, act: (i) => act(devices[i % devices.length] as AttackDevice, i) });
    },
    onEnd: (end) => void ends.push(end),
    perSecond: () => wanted.reduce((sum, { perSecond }) => sum + perSecond, 0),
    start(share) {
      loops = wanted.map((one) => startLoop({ ...one, perSecond: one.perSecond * share }));
    },
    async end() {
      for (const end of ends) end();
      const figures = await Promise.all(loops.map((stop) => stop()));
      const sum = (of: 'due' | 'begun') => figures.reduce((all, one) => all + one[of], 0);
      return { due: sum('due'), begun: sum('begun'), answers };
    },
  };
}
