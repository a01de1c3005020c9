import { randomId } from '../../shared/service-kit/random-id.ts';
import { type App, startApp } from '../../services/sync/app.ts';
import { type Config, loadConfig } from '../../services/sync/config/config.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import { Owner } from './world/clock.ts';
import { cutClients } from './world/servers.ts';
import type { StoreAdapter } from './world/store-adapter.ts';
import type { World } from './world/world.ts';

const FIRST_PORT = 10_000;

/** The name of the installation, which rings carry. */
export const SERVICE = 'https://simulate.example';

/** The settings of an operator, with shorter periods, so that a run of a minute shows what otherwise takes a day. */
const SETTINGS = {
  APP_IDENTITY: 'dev',
  APP_REDIS_URL: 'redis://127.0.0.1:6379',
  APP_KEY_PREFIX: 'simulate',
  APP_SERVICE_ID: SERVICE,
  APP_RATE_LIMIT_SCALE: '0',
  APP_LOG_LEVEL: 'silent',
  APP_DRAIN_NOTICE_SECONDS: '1',
  APP_DRAIN_SECONDS: '2',
  APP_DRAIN_TRANSFER_SECONDS: '3',
};

/** A stopping replica ends within this time: the settings above, the last requests, and a reserve for a slow store. */
const ENDS_WITHIN_MS = 40_000;

export interface Member {
  readonly name: string;
  readonly owner: Owner;
  readonly config: Config;
  readonly app: App;
  readonly process: { readonly url: string };
  /** `up` gets requests; `leaving` stops in good order. */
  state: 'up' | 'leaving' | 'gone';
}

interface FleetParts {
  world: World;
  store: StoreAdapter;
  /** For the choices of the balancer. */
  random: Random;
  settings: Record<string, string>;
}

/** The replicas of a simulation, as a balancer sees them. All of them run in this process. */
export class Fleet {
  readonly members: Member[] = [];
  isCalm = false;
  readonly #parts: FleetParts;

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  get up(): Member[] {
    return this.members.filter(({ state }) => state === 'up');
  }

  async start(): Promise<Member> {
    const { world, settings } = this.#parts;
    const number = this.members.length + 1;
    const port = FIRST_PORT + 2 * number;
    const ports = { APP_PORT: String(port), APP_ADMIN_PORT: String(port + 1) };
    const owner = new Owner(`r${number}`);
    world.note('start', owner.name);
    const config = loadConfig({ ...SETTINGS, ...settings, ...ports }, 100_000);
    const app = await world.as(owner, () => startApp(config));
    const process = { url: `http://127.0.0.1:${port}` };
    const member: Member = { name: owner.name, owner, config, app, process, state: 'up' };
    this.members.push(member);
    return member;
  }

  /** Returns the target of the next request. */
  choose(): Member {
    const { up } = this;
    return this.#parts.random.pick(up.length > 0 ? up : this.members);
  }

  nameOf(url: string): string {
    return this.members.find(({ process }) => url.startsWith(`${process.url}/`))?.name ?? url;
  }

  /**
   * Ends a replica between two instructions. A part of what it has sent arrives, and nothing happens to it any more.
   */
  kill(member: Member): void {
    const { world, store } = this.#parts;
    world.note('kill', member.name);
    member.state = 'gone';
    cutClients(world, member.owner, () => true);
    store.cut(member.owner);
    member.owner.isKilled = true;
  }

  /** Stops a replica in good order, as SIGTERM does, once another is ready. Resolves to what was wrong with its end. */
  async drain(member: Member): Promise<string | null> {
    const { world } = this.#parts;
    await this.start();
    if (member.state !== 'up') return null;
    world.note('drain', member.name);
    member.state = 'leaving';
    const late = wait(ENDS_WITHIN_MS).then(() => `it had not ended after ${ENDS_WITHIN_MS} ms`);
    const broken = await Promise.race([world.as(member.owner, () => member.app.stop()).then(() => null), late]);
    world.note('ended', member.name);
    member.state = 'gone';
    member.owner.isKilled = true;
    return broken;
  }

  /** Lets nothing happen to a replica for a while, and then everything at once that came meanwhile. */
  pause({ owner, name }: Member, forMs: number): void {
    const { world } = this.#parts;
    world.note('pause', name, Math.round(forMs));
    owner.pausedUntilUs = world.clock.nowUs + Math.round(forMs * 1_000);
  }
}

/**
 * Empties the random bytes that this process has fetched in advance, so that one simulation does not use those of
 * another.
 */
export function dropRandomPool(): void {
  const POOL_BYTES = 8 * 1_024;
  randomId(POOL_BYTES);
}
