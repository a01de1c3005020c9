import { readFileSync } from 'node:fs';

/** The clock ticks of Linux in a second. */
const TICKS = 100;

export interface ProcessorTime {
  at: number;
  /** The seconds that ran, and the seconds that were spent waiting for a processor. */
  ran: number;
  waited: number;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Returns the time that processes have had of the machine so far; zeros if the kernel does not say. */
export function processorTimeOf(pids: readonly number[]): ProcessorTime {
  let [ran, waited] = [0, 0];
  for (const pid of pids) {
    // The name in brackets may hold spaces, so fields are counted behind it.
    const fields = read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];
    ran += (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS;
    waited += Number(read(`/proc/${pid}/schedstat`).split(' ')[1] ?? 0) / 1e9;
  }
  return { at: performance.now(), ran, waited };
}

/** Returns the shares of one processor. */
export function shareOf(before: ProcessorTime, after: ProcessorTime): { ran: number; waited: number } {
  const seconds = (after.at - before.at) / 1_000;
  return { ran: (after.ran - before.ran) / seconds, waited: (after.waited - before.waited) / seconds };
}

/** Returns for how many ms the main thread of each process has waited for a processor so far. */
export const waitsOf = (pids: readonly number[]): number[] =>
  pids.map((pid) => Number(read(`/proc/${pid}/schedstat`).split(' ')[1] ?? 0) / 1e6);
