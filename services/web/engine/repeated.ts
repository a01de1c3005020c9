import { systemClock } from '../../../shared/client/time/clock.ts';
import { makeRepeated } from '../../../shared/client/time/repeated.ts';

const page = new AbortController().signal;

/** Makes work of this page that is repeated while it fails for a moment. What failed is shown elsewhere, or nowhere. */
export const repeated = (work: () => Promise<void>): (() => void) =>
  makeRepeated({ clock: systemClock, life: () => page, onProblem: () => {} }, work);
