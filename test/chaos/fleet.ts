import { once } from 'node:events';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { Repairs } from './repairs.ts';
import type { Random } from './random.ts';
import type { ChaosStore, Door } from './stores/store.ts';
import { wait } from './wait.ts';

/** How often a request goes to a replica that should not get one: a balancer learns of changes late. */
const STALE_CHOICE = 0.05;

export interface Member {
  name: string;
  process: ReplicaProcess;
  door: Door;
  /** `up` gets requests; `leaving` drains. A paused replica is `up`, because nobody knows of the pause yet. */
  state: 'up' | 'leaving' | 'gone';
}

interface FleetParts {
  store: ChaosStore;
  env: Record<string, string>;
  /** For the choices of the balancer. */
  random: Random;
  /** Called when a replica ended without being told to. */
  onCrash: (name: string, why: string) => void;
}

/** The replicas, as a balancer and an orchestrator see them. */
export class Fleet {
  readonly members: Member[] = [];
  readonly repairs = new Repairs();
  /** In a quiet moment the balancer knows who is there. */
  isCalm = false;
  readonly #parts: FleetParts;
  #started = 0;

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  /** Starts one replica; it gets requests as soon as it is ready. */
  async start(): Promise<Member> {
    const { store, env } = this.#parts;
    const door = await store.openDoor();
    this.#started += 1;
    const name = `r${this.#started}`;
    const options = { redisUrl: door.url, keyPrefix: 'chaos', env: { ...env, ...door.env } };
    // A start may take too long on a busy machine. An orchestrator tries again.
    const process = await startReplica(options).catch(() => startReplica(options));
    const member: Member = { name, process, door, state: 'up' };
    this.members.push(member);
    process.process.once('exit', (code) => {
      // Killed and stopped replicas have another state, or are about to.
      if (member.state !== 'up') return;
      member.state = 'gone';
      this.#parts.onCrash(name, `ended by itself (${code}):\n${process.log().slice(-2_000)}`);
      void this.start();
    });
    return member;
  }

  get up(): Member[] {
    return this.members.filter(({ state }) => state === 'up');
  }

  /** Returns the target of the next request. */
  choose(): Member {
    const { random } = this.#parts;
    const there = !this.isCalm && random.next() < STALE_CHOICE ? this.members.slice(-6) : this.up;
    return random.pick(there.length > 0 ? there : this.members);
  }

  nameOf(url: string): string {
    return this.members.find(({ process }) => url.startsWith(`${process.url}/`))?.name ?? url;
  }

  /** Kills the replica with SIGKILL and starts a fresh process after `downMs`. */
  async replaceKilled(member: Member, downMs: number): Promise<void> {
    member.state = 'gone';
    await member.process.kill();
    await wait(downMs);
    await this.start();
  }

  async pause(member: Member, forMs: number): Promise<void> {
    member.process.process.kill('SIGSTOP');
    await wait(forMs);
    member.process.process.kill('SIGCONT');
  }

  /**
   * Starts a replacement, waits until it is ready, and sends SIGTERM. Resolves to what was wrong with the end of the
   * old replica.
   */
  async drain(member: Member): Promise<string | null> {
    await Promise.all([this.start(), this.repairs.read(member.name, member.process.adminUrl)]);
    if (member.state !== 'up') return null;
    member.state = 'leaving';
    const code = await member.process.stop();
    member.state = 'gone';
    return code === 0 ? null : `exit code ${code}:\n${member.process.log().slice(-2_000)}`;
  }

  /** Gives each replica in turn a ready replacement and SIGTERM. The old ones end while the next is replaced. */
  async rollOver(): Promise<string | null> {
    const ends: Promise<string | null>[] = [];
    for (const member of this.up) {
      const end = this.drain(member);
      ends.push(end);
      while (member.state === 'up') await wait(50);
      await wait(500);
    }
    return (await Promise.all(ends)).find((wrong) => wrong !== null) ?? null;
  }

  /** Reads what all replicas counted of their repairs. */
  async readRepairs(): Promise<void> {
    await Promise.all(this.up.map(({ name, process }) => this.repairs.read(name, process.adminUrl)));
  }

  /** Returns what the replicas logged as errors, for people. It should be empty. */
  errors(): string[] {
    return this.members.flatMap(({ name, process }) =>
      process
        .log()
        .split('\n')
        .filter((line) => /"level":(50|60|"error"|"fatal")/.test(line))
        .map((line) => `${name} ${line}`),
    );
  }

  /** Kills all replicas that are left. */
  async stop(): Promise<void> {
    for (const member of this.members) {
      const { process, state } = member;
      if (state === 'gone') continue;
      member.state = 'gone';
      const { process: child } = process;
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
    await stopReplicas();
  }
}
