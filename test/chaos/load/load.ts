import type { History } from '../history.ts';
import { accountNames, type Options } from '../options.ts';
import type { Balancer } from '../balancer.ts';
import type { Random } from '../random.ts';
import { ChaosDevice } from './chaos-device.ts';
import { makePublishing, type Publishing } from './publishing.ts';
import { wait } from '../wait.ts';

const TICK_MS = 50;
const ACK_EVERY_MS = 1_000;

/** The percentage of messages that are acknowledged half a minute late, and are sent again meanwhile. */
const LATE_ACK_PERCENT = 3;
const LATE_ACK_MS = 30_000;

/**
 * With more calls than this without an answer the load waits, so that a stalled store does not cause a flood of its
 * own.
 */
const MOST_IN_FLIGHT = 400;

/** How often somebody leaves, and for how long. Nobody is away long enough to outlive a log of 256 events. */
const LEAVE_EVERY_MS = 1_500;
const AWAY_MS = [300, 25_000] as const;

interface LoadParts {
  fleet: Balancer;
  history: History;
  options: Pick<Options, 'devices' | 'perAccount' | 'rate'>;
  random: Random;
  now: () => number;
}

/** The devices and what they do. */
export class Load {
  readonly devices: ChaosDevice[] = [];
  readonly accounts = new Map<string, ChaosDevice[]>();
  readonly publishing: Publishing;
  readonly #parts: LoadParts;
  readonly #random: Random;
  /** No seed determines what comes to a device and when. It must not influence what the others do. */
  readonly #ackRandom: Random;
  readonly #pending = new Map<ChaosDevice, Map<string, number>>();
  #timers: NodeJS.Timeout[] = [];
  #due = 0;
  #leaving = false;

  constructor(parts: LoadParts) {
    const { options, random, history, now, fleet } = parts;
    this.#parts = parts;
    this.#random = random.fork('load');
    this.#ackRandom = random.fork('acknowledgements');
    this.publishing = makePublishing({ history, random: random.fork('texts'), now });
    const names = accountNames(options);
    for (let i = 0; i < options.devices; i++) {
      const account = names[Math.floor(i / options.perAccount)] as string;
      const name = `d${i % options.perAccount}`;
      const device = new ChaosDevice({
        ...{ account, id: `${account}-${name}-chaos`, name, now, random: random.fork(`device ${i}`) },
        chooseUrl: () => fleet.choose().process.url,
        replicaNameOf: (url) => fleet.nameOf(url),
        onMessage: (receiver, messageId) => this.#enqueue(receiver, messageId),
      });
      this.devices.push(device);
      this.accounts.set(account, [...(this.accounts.get(account) ?? []), device]);
      history.devices.push(device.history);
    }
  }

  /** All devices listen. Resolves when all streams are open. */
  async begin(): Promise<void> {
    for (const device of this.devices) device.listen();
    while (!this.devices.every((device) => device.isOpen)) await wait(50);
  }

  start(): void {
    const every = (ms: number, run: () => void) => this.#timers.push(setInterval(run, ms));
    every(TICK_MS, () => this.#publish());
    every(LEAVE_EVERY_MS, () => this.#someoneLeaves());
    every(ACK_EVERY_MS / 4, () => this.#acknowledge());
    this.#leaving = true;
  }

  /** Starts no more operations, and waits for those in flight. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    while (this.publishing.inFlight > 0) await wait(50);
  }

  /** From now on no device leaves, and those that left stay away. */
  freezeAbsence(): void {
    this.#leaving = false;
  }

  allowAbsence(): void {
    this.#leaving = true;
    for (const device of this.devices) if (!device.isWanted) this.#returnLater(device, 1_000);
  }

  /** All devices come back, and none leaves any more. */
  recall(): void {
    this.#leaving = false;
    for (const device of this.devices) device.listen();
  }

  #publish(): void {
    const { options } = this.#parts;
    const random = this.#random;
    this.#due += (options.rate * TICK_MS) / 1_000;
    for (; this.#due >= 1; this.#due -= 1) {
      if (this.publishing.inFlight > MOST_IN_FLIGHT) continue;
      const device = random.pick(this.devices);
      const others = (this.accounts.get(device.account) ?? []).filter((one) => one !== device);
      const choice = random.next();
      if (choice < 0.65) void this.publishing.message(device, random.pick(others));
      else if (choice < 0.75) void this.publishing.message(device, null);
      else if (choice < 0.9) void this.publishing.clipboard(device);
      else void this.publishing.rename(device, random.pick([device, ...others]));
    }
  }

  #enqueue(device: ChaosDevice, messageId: string): void {
    const pending = this.#pending.get(device) ?? new Map<string, number>();
    this.#pending.set(device, pending);
    if (pending.has(messageId)) return;
    const lateMs = this.#ackRandom.next() * 100 < LATE_ACK_PERCENT ? LATE_ACK_MS : 0;
    pending.set(messageId, this.#parts.now() + this.#ackRandom.next() * ACK_EVERY_MS + lateMs);
  }

  #acknowledge(): void {
    if (this.publishing.inFlight > MOST_IN_FLIGHT) return;
    const now = this.#parts.now();
    for (const [device, pending] of this.#pending) {
      const due = [...pending].filter(([, at]) => at <= now).map(([id]) => id);
      if (due.length === 0) continue;
      const ids = due.slice(0, 100);
      // They are not sent again before the answer. After a failure they are sent a little later.
      for (const id of ids) pending.set(id, Number.POSITIVE_INFINITY);
      void this.publishing.acknowledge(device, ids).then((done) => {
        for (const id of ids) {
          if (done) pending.delete(id);
          else pending.set(id, this.#parts.now() + ACK_EVERY_MS);
        }
      });
    }
  }

  #someoneLeaves(): void {
    if (!this.#leaving) return;
    const device = this.#random.pick(this.devices);
    const forMs = this.#random.between(...AWAY_MS);
    if (!device.isWanted) return;
    void device.leave().then(() => this.#returnLater(device, forMs));
  }

  #returnLater(device: ChaosDevice, inMs: number): void {
    setTimeout(() => {
      if (this.#leaving) device.listen();
    }, inMs);
  }
}
