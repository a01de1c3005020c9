import cryptoModule from 'node:crypto';
import httpModule from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import netModule from 'node:net';
import timersModule from 'node:timers';
import timersPromises from 'node:timers/promises';
import { BEGINS_AT_MS } from './clock.ts';
import { here } from './world.ts';
import { openServer } from './servers.ts';
import { SimulatedTimer } from './timers.ts';
import { fetchHere } from './fetching.ts';
import { connectToStore } from './store-socket.ts';

/** The duration of a round of the event loop, so that code that waits for the clock round by round ends. */
const ROUND_US = 10;

type AnyFunction = (...words: never[]) => unknown;

/** Gives a module, or an object, another function within a simulation. Outside it keeps its own. */
function replace<K extends string>(where: Record<K, unknown>, name: K, fake: (...words: never[]) => unknown): void {
  const real = where[name] as AnyFunction;
  where[name] = function replaced(this: unknown, ...words: never[]) {
    return (here() === undefined ? real : fake).apply(this, words);
  };
}

function fakeTimers(): void {
  const timers = {
    setTimeout: (run: () => void, ms = 1, ...words: []) =>
      new SimulatedTimer({ run, words, us: Math.max(1, ms) * 1_000 }),
    setInterval: (run: () => void, ms = 1, ...words: []) =>
      new SimulatedTimer({ run, words, us: Math.max(1, ms) * 1_000, repeats: true }),
    setImmediate: (run: () => void, ...words: []) => new SimulatedTimer({ run, words, us: ROUND_US, isExact: true }),
  };
  for (const where of [globalThis, timersModule] as unknown as Record<string, unknown>[]) {
    for (const [name, fake] of Object.entries(timers)) replace(where, name, fake as AnyFunction);
    for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) {
      const real = where[name] as (timer: unknown) => void;
      where[name] = (timer: unknown) => (timer instanceof SimulatedTimer ? timer.clear() : real(timer));
    }
  }
  const wait = <T>(ms: number, value: T) =>
    new Promise<T>(
      (resolve) => new SimulatedTimer({ run: () => resolve(value), words: [], us: Math.max(1, ms) * 1_000 }),
    );
  replace(timersPromises as unknown as Record<string, unknown>, 'setTimeout', wait as AnyFunction);
}

function fakeClocks(): void {
  const RealDate = Date;
  const wallMs = (): number => {
    const at = here();
    return at === undefined ? RealDate.now() : Math.floor(BEGINS_AT_MS + at.world.nowMs + at.owner.skewMs);
  };
  globalThis.Date = class extends RealDate {
    constructor(...words: []) {
      super(...((words.length === 0 ? [wallMs()] : words) as []));
    }
    static override now = wallMs;
  } as DateConstructor;
  replace(performance as unknown as Record<string, unknown>, 'now', () => here()?.world.nowMs);
}

/** Returns bytes that the seed determines. */
function drawnBytes(into: Uint8Array): Uint8Array {
  const random = here()?.world.random;
  for (let i = 0; i < into.length; i += 1) into[i] = Math.floor((random?.next() ?? 0) * 256);
  return into;
}

const bytesOf = (view: ArrayBufferView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function drawnUuid(): string {
  const bytes = Buffer.from(drawnBytes(new Uint8Array(16)));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Works like Node's function: from 0, or from the first number, up to the other one, which is excluded. */
function drawnInt(first: number, second?: number): number {
  const [from, to] = second === undefined ? [0, first] : [first, second];
  return Math.floor(here()?.world.random.between(from, to) ?? from);
}

function fill<T extends ArrayBufferView>(view: T): T {
  drawnBytes(bytesOf(view));
  return view;
}

function fakeRandomness(): void {
  replace(Math as unknown as Record<string, unknown>, 'random', () => here()?.world.random.next());
  const node = cryptoModule as unknown as Record<string, unknown>;
  replace(node, 'randomBytes', (length: number) => Buffer.from(drawnBytes(new Uint8Array(length))));
  replace(node, 'randomFillSync', fill as AnyFunction);
  replace(node, 'randomUUID', drawnUuid);
  replace(node, 'randomInt', drawnInt as AnyFunction);
  const web = globalThis.crypto as unknown as Record<string, unknown>;
  replace(web, 'getRandomValues', fill as AnyFunction);
  replace(web, 'randomUUID', drawnUuid);
}

/** Work in the threads of Node takes one round here, in which nothing else happens. */
function fakeThreads(): void {
  const web = globalThis.crypto.subtle as unknown as Record<string, AnyFunction>;
  for (const name of ['importKey', 'verify'] as const) {
    const real = web[name] as (...words: never[]) => Promise<unknown>;
    replace(web, name, (...words) => {
      const at = here();
      const done = real.apply(web, words);
      return new Promise((resolve, reject) => {
        at?.world.after(ROUND_US, at.owner, () => at.world.wait(() => done.then(resolve, reject)));
      });
    });
  }
}

let isInstalled = false;

/**
 * Replaces what code gets from the machine: timers, clocks, random numbers, connections. Outside a simulation they work as
 * before. It must be called before the code of the replicas is loaded, because that code may keep what it finds.
 */
export function installFakes(): void {
  if (isInstalled) return;
  isInstalled = true;
  fakeTimers();
  fakeClocks();
  fakeRandomness();
  fakeThreads();
  for (const name of ['connect', 'createConnection']) {
    replace(netModule as unknown as Record<string, unknown>, name, connectToStore as AnyFunction);
  }
  const createServer = httpModule.createServer as AnyFunction;
  replace(httpModule as unknown as Record<string, unknown>, 'createServer', (...words) =>
    openServer(createServer(...words) as httpModule.Server),
  );
  replace(globalThis as unknown as Record<string, unknown>, 'fetch', fetchHere as AnyFunction);
  syncBuiltinESMExports();
}
