import type { RouteName } from '../../../shared/contract/routes.ts';
import type { Answer, Ask, Call } from '../load/http.ts';
import { allowedPerSecond } from '../load/limits.ts';
import { type LoopFigures, startLoop } from '../load/pace.ts';

/** The client address of the attacker; limits by address must not be shared with the other account. */
export const ADDRESS = '127.0.0.2';

/** How many times as much as a limit allows. Beyond the limit the attacker hears 429. */
const OVERSHOOT = 1.5;
/** Requests a second of one loop at most, and where no limit is known. */
const MOST_PER_SECOND = 50;
const AT_ONCE = 8;
/** Without limits and without bounds: as many at once as the replicas take. */
const UNBOUNDED = { perSecond: 2_000, atOnce: 64 };

export interface AttackDevice {
  readonly id: string;
  readonly name: string;
  /** The replica that it uses. */
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** What a scenario has done: answers by status and code, and how much of what was due. */
export interface ScenarioFigures extends LoopFigures {
  answers: Record<string, number>;
}

/** What every scenario has: the devices of the account, and a client whose answers are counted. */
export interface Attack {
  readonly account: string;
  readonly urls: readonly [string, string];
  readonly devices: readonly AttackDevice[];
  /** A service that takes connections and never says a word. */
  readonly silentPort: number;
  ask(device: AttackDevice, call: Call): Promise<Answer>;
  /** Counts what is no answer of HTTP. */
  note(what: string): void;
  /** `act` at the limit of the route, of all devices in turn. */
  loop(route: RouteName, act: (device: AttackDevice, number: number) => Promise<unknown>, atOnce?: number): void;
  /** Called when the scenario ends. */
  onEnd(end: () => void): void;
}

export interface Scenario {
  readonly name: string;
  /** For people: what is done. */
  readonly what: string;
  /** An answer that shows that the attack gets through: `status` or `status code`. */
  readonly works: RegExp;
  /** Once, before anything is measured. */
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

/** One scenario at its work. */
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
