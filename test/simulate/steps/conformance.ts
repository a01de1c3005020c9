import type { Violation } from '../../chaos/checker/violation.ts';
import { followLeases } from './lease-steps.ts';
import { followLogins } from './login-steps.ts';
import { type Ask, ModelSteps } from './model-steps.ts';
import { followRelay } from './relay-steps.ts';
import { followRings } from './ring-steps.ts';
import { followTransfers } from './transfer-steps.ts';

/** The models whose steps are compared, and what a run promises about each. */
const PROMISES = {
  // Judges G12.
  transfer: 'a transfer takes the steps of its model',
  // Judges G19.
  relay: 'a file of the relay takes the steps of its model',
  // Judges G32.
  keyring: 'a ring is put by the steps of its model',
  // Judges G11.
  login: 'a login request takes the steps of its model',
  // Judges G6.
  lease: 'a lease takes the steps of its model',
} as const;

export type Conformance = Record<keyof typeof PROMISES, ModelSteps>;

/** Makes the comparison of each script of a run with the steps of the models. */
export function makeConformance(parts: { ask: Ask; now: () => number }): Conformance {
  return {
    transfer: new ModelSteps({ ...parts, followers: [followTransfers()] }),
    relay: new ModelSteps({ ...parts, followers: followRelay() }),
    keyring: new ModelSteps({ ...parts, followers: [followRings()] }),
    login: new ModelSteps({ ...parts, followers: [followLogins()] }),
    lease: new ModelSteps({ ...parts, followers: [followLeases()] }),
  };
}

const entriesOf = (conformance: Conformance) => Object.entries(conformance) as [keyof Conformance, ModelSteps][];

export const countsOf = (conformance: Conformance): Record<keyof Conformance, number> =>
  Object.fromEntries(entriesOf(conformance).map(([model, { count }]) => [model, count])) as never;

export const verdictOf = (conformance: Conformance): Record<string, Violation[]> =>
  Object.fromEntries(entriesOf(conformance).map(([model, { violations }]) => [PROMISES[model], violations]));
