import type { Checkpoint } from './history.ts';
import type { Balancer } from './balancer.ts';
import type { Load } from './load/load.ts';
import { snapshotOf } from './load/frames.ts';
import { wait } from './wait.ts';

/** After the last cause is gone everything is right again within this time. */
const HEALED_WITHIN_MS = 15_000;
const PROBE_WITHIN_MS = 10_000;
const BETWEEN_STREAMS_MS = 4_000;

/** Recent absences still have their grace ahead of them, and dead replicas their lease. */
const PRESENCE_WITHIN_MS = 20_000;
const ASK_EVERY_MS = 250;

interface CheckpointParts {
  load: Load;
  fleet: Balancer;
  now: () => number;
  /** Returns what the store holds of an account. */
  peek: (account: string) => Promise<string>;
  say: (text: string) => void;
}

const sorted = (names: readonly string[]): string => names.toSorted().join(' ');

/** Waits until `isSo` or the time is over; resolves to whether it is so. */
async function eventually(withinMs: number, isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) return false;
    await wait(ASK_EVERY_MS);
  }
  return true;
}

/**
 * Takes a quiet moment and notes what is true in it: which devices want a stream and have none, what replicas and
 * devices say about presence, and whether a message reaches each open stream. Judging that is the checker's task.
 */
export function makeCheckpoints({ load, fleet, now, peek, say }: CheckpointParts) {
  const wantedOf = (account: string): string[] =>
    (load.accounts.get(account) ?? []).filter((device) => device.isWanted).map(({ id }) => id);

  async function presenceOf(account: string): Promise<string[]> {
    const [device] = load.accounts.get(account) ?? [];
    const answer = await device?.client.call('getPresence').catch(() => null);
    return answer ? snapshotOf(answer.body).online : [];
  }

  const devicesAgree = (account: string): boolean =>
    (load.accounts.get(account) ?? [])
      .filter((device) => device.isWanted)
      .every((device) => sorted(device.believedOnline) === sorted(wantedOf(account)));

  const presenceIsRight = async (account: string): Promise<boolean> =>
    devicesAgree(account) && sorted(await presenceOf(account)) === sorted(wantedOf(account));

  async function probeAll(): Promise<number[]> {
    const open = load.devices.filter((device) => device.isOpen);
    const probes = await Promise.all(
      open.map(async (device) => {
        const sender = load.accounts.get(device.account)?.find((one) => one !== device);
        if (sender === undefined) return null;
        const { number, outcome } = await load.publishing.message(sender, device, true);
        if (outcome === 'acknowledged') await eventually(PROBE_WITHIN_MS, () => device.sawOperation(number));
        return number;
      }),
    );
    return probes.filter((number) => number !== null);
  }

  return async function takeCheckpoint(number: number): Promise<Checkpoint> {
    load.freezeAbsence();
    fleet.isCalm = true;
    const healingSince = now();
    await wait(HEALED_WITHIN_MS);
    // A device that is between two streams just now (rotation) has one open a moment later.
    const missing = new Set(load.devices.filter((device) => device.isWanted));
    await eventually(BETWEEN_STREAMS_MS, () => {
      for (const device of missing) if (device.isOpen) missing.delete(device);
      return missing.size === 0;
    });
    const notOpen = [...missing].map(({ id }) => id);
    const probes = await probeAll();
    const probesDueAt = now();
    const accounts = [...load.accounts.keys()];
    const settled = new Set<string>();
    const leftMs = () => Math.max(0, PRESENCE_WITHIN_MS - (now() - healingSince));
    await eventually(leftMs(), async () => {
      for (const account of accounts) {
        if (!settled.has(account) && (await presenceIsRight(account))) settled.add(account);
      }
      return settled.size === accounts.length;
    });
    const presence = await Promise.all(
      accounts.map(async (account) => ({
        account,
        online: await presenceOf(account),
        wanted: wantedOf(account),
        stored: settled.has(account) ? null : await peek(account),
      })),
    );
    fleet.isCalm = false;
    const at = now();
    say(
      `checkpoint ${number}: ${probes.length} probes, ${settled.size}/${accounts.length} accounts right, ${notOpen.length} not open`,
    );
    return { number, at, notOpen, presence, probes, probesDueAt };
  };
}
