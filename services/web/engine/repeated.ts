import { BatonClientError } from '../../../shared/client/index.ts';
import { systemClock } from '../../../shared/client/time/clock.ts';
import { makeRepeated } from '../../../shared/client/time/repeated.ts';

const page = new AbortController().signal;

/** Makes work of this page that is repeated while it fails for a moment. Another part shows the failure, or none does. */
export const repeated = (work: () => Promise<void>): (() => void) =>
  makeRepeated({ clock: systemClock, life: () => page, onProblem: () => {} }, work);

/** Tells whether the work that failed may succeed later. */
export const isPassing = (error: unknown): error is BatonClientError =>
  error instanceof BatonClientError && error.action === 'retry';
