import type { Violation } from '../chaos/checker/violation.ts';
import type { Plan } from './plan.ts';

/** Returns the promises that were not kept. */
export const brokenOf = (verdict: Record<string, Violation[]>): string[] =>
  Object.keys(verdict).filter((promise) => (verdict[promise] ?? []).length > 0);

/** Yields smaller plans than this one, the smallest first. */
function* smallerThan(plan: Plan): Generator<Plan> {
  if (plan.faults.length > 1) {
    const half = plan.faults.length >> 1;
    yield { ...plan, faults: plan.faults.slice(0, half) };
    yield { ...plan, faults: plan.faults.slice(half) };
  }
  for (const fault of plan.faults) yield { ...plan, faults: plan.faults.filter((one) => one !== fault) };
  const { devices, perAccount, replicas, seconds, rate, files, transfers, rings, logins, signals } = plan;
  if (files > 0) yield { ...plan, files: files - 1 };
  if (transfers > 0) yield { ...plan, transfers: transfers - 1 };
  if (rings > 0) yield { ...plan, rings: rings >> 1 };
  if (logins > 0) yield { ...plan, logins: logins - 1 };
  if (signals > 0) yield { ...plan, signals: signals - 1 };
  if (devices > perAccount) yield { ...plan, devices: devices - perAccount };
  if (replicas > 2) yield { ...plan, replicas: replicas - 1 };
  if (seconds > 4) yield { ...plan, seconds: seconds >> 1 };
  if (rate > 1) yield { ...plan, rate: rate >> 1 };
}

/**
 * Tries smaller plans as long as one still breaks the same promise. Resolves to the last one that did, and to the
 * number of tries.
 */
export async function shrink(
  plan: Plan,
  stillFails: (smaller: Plan) => Promise<boolean>,
  mostRuns: number,
): Promise<{ plan: Plan; runs: number }> {
  let [smallest, runs] = [plan, 0];
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const smaller of smallerThan(smallest)) {
      if (runs >= mostRuns) return { plan: smallest, runs };
      runs += 1;
      if (!(await stillFails(smaller))) continue;
      smallest = smaller;
      isSmaller = true;
      break;
    }
  }
  return { plan: smallest, runs };
}
