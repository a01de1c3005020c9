import { createHash } from 'node:crypto';
import { makeAsk } from '../load/http.ts';
import { beyond } from './beyond.ts';
import { clipboard } from './clipboard.ts';
import { devices as deviceScenario } from './devices.ts';
import { mailbox } from './mailbox.ts';
import { messages } from './messages.ts';
import { push } from './push.ts';
import { relay } from './relay.ts';
import { ADDRESS, type AttackDevice, makeRunning, type Scenario, type ScenarioFigures } from './scenario.ts';
import { signals } from './signals.ts';
import { signIn } from './sign-in.ts';
import { sockets } from './sockets.ts';
import { streams } from './streams.ts';
import { transferInits } from './transfer-inits.ts';
import { transferReads } from './transfer-reads.ts';

const SCENARIOS: readonly Scenario[] = [
  ...[transferInits, transferReads, relay, streams, deviceScenario, messages, mailbox],
  ...[signals, clipboard, push, signIn, sockets, beyond],
];

/** An account may have 64. The rest is for devices that come and go. */
const DEVICES = 60;
/** All scenarios at once send this many times what one alone may. */
const TOGETHER = 2;

interface Start {
  account: string;
  urls: [string, string];
  silentPort: number;
  unlimited: boolean;
  only: string[];
  /** The most requests a second of one scenario. */
  pace: number;
}

export interface ScenarioRow {
  name: string;
  what: string;
  works: string;
}

const ask = makeAsk({ from: ADDRESS });
let parts: Parameters<typeof makeRunning>[0];
let pace = 0;

/** Makes the devices, with full sessions and guest sessions in turn. */
function makeDevices(account: string, urls: [string, string]): AttackDevice[] {
  return Array.from({ length: DEVICES }, (_, i) => {
    const id = createHash('sha256').update(`${account} ${i}`).digest('base64url').slice(0, 16);
    const name = `a${i}`;
    const session =
      i % 2 === 0
        ? { 'X-Dev-Type': 'linux', 'X-Dev-Scope': 'full' }
        : { 'X-Dev-Type': 'browser', 'X-Dev-Scope': 'guest' };
    return {
      ...{ id, name, url: urls[(i >> 1) % 2] as string },
      headers: {
        ...{ 'X-Dev-User': account, 'X-Dev-Device': id, 'X-Dev-Name': name },
        ...session,
      },
    };
  });
}

const chosen = (names: readonly string[]): Scenario[] =>
  SCENARIOS.filter(({ name }) => names.length === 0 || names.includes(name));

const pause = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

export const TASKS = {
  /** Makes the devices, and what the scenarios need there. Resolves to the list of scenarios. */
  async start({ account, urls, silentPort, unlimited, only, pace: asked }: Start): Promise<ScenarioRow[]> {
    pace = unlimited ? Number.POSITIVE_INFINITY : asked;
    const unknown = only.filter((name) => !SCENARIOS.some((one) => one.name === name));
    if (unknown.length > 0) throw new Error(`No scenario ${unknown.join(', ')}; ${SCENARIOS.map(({ name }) => name)}`);
    parts = { account, urls, silentPort, unlimited, ask, devices: makeDevices(account, urls) };
    for (const { url, headers } of parts.devices) await ask(url, { path: '/api/devices', headers });
    for (const scenario of chosen(only)) {
      const preparing = makeRunning(parts);
      await scenario.prepare?.(preparing);
      await preparing.end();
    }
    return chosen(only).map(({ name, what, works }) => ({ name, what, works: works.source }));
  },

  /** Runs scenarios side by side. Resolves when they have ended. */
  async run({ names, seconds }: { names: string[]; seconds: number }): Promise<Record<string, ScenarioFigures>> {
    const running = chosen(names).map((scenario) => ({ scenario, attack: makeRunning(parts) }));
    for (const { scenario, attack } of running) scenario.begin(attack);
    const wanted = running.map(({ attack }) => Math.min(pace, attack.perSecond()));
    const all = wanted.reduce((sum, perSecond) => sum + perSecond, 0);
    const share = Math.min(1, (pace * TOGETHER) / all);
    for (const { attack } of running) attack.start(Math.min(1, pace / attack.perSecond()) * share);
    await pause(seconds);
    const ended = await Promise.all(
      running.map(async ({ scenario, attack }) => [scenario.name, await attack.end()] as const),
    );
    return Object.fromEntries(ended);
  },
};
