import { BatonError } from '../../../../shared/contract/errors.ts';

/** The failures in a row after which the breaker opens. */
const FAILURES = 5;
/** How long no call is made. Then one call is let through as a test. */
const OPEN_MS = 2_000;

interface BreakerParts {
  onChange: (isOpen: boolean) => void;
  /** For tests. ms. */
  now?: () => number;
}

/**
 * Makes a breaker, which stops the calls to a broker that does not answer, so that requests do not wait for it.
 *
 *   closed --5 failures in a row--> open --2 s--> half open --success--> closed
 *                                    ^               |
 *                                    +----failure----+
 */
export function makeBreaker({ onChange, now = () => performance.now() }: BreakerParts) {
  let failures = 0;
  let openUntil = 0;
  let probing = false;
  let lastFailure: unknown;
  let isToldOpen = false;

  function tell(isOpen: boolean): void {
    if (isOpen !== isToldOpen) onChange(isOpen);
    isToldOpen = isOpen;
  }

  /** Closes the breaker. A call that began before it opened may close it too. */
  function close(): void {
    failures = 0;
    tell(false);
  }

  return {
    /** Runs `work`. Throws `broker_unavailable` without a call while open. `isFailure` tells which errors count. */
    async call<T>(work: () => Promise<T>, isFailure: (error: unknown) => boolean): Promise<T> {
      const isOpen = failures >= FAILURES;
      if (isOpen && (now() < openUntil || probing)) {
        throw new BatonError('broker_unavailable', 'The auth broker did not answer lately', { cause: lastFailure });
      }
      probing = isOpen;
      try {
        const result = await work();
        close();
        return result;
      } catch (error) {
        if (isFailure(error)) {
          failures += 1;
          lastFailure = error;
          openUntil = now() + OPEN_MS;
          if (failures >= FAILURES) tell(true);
        } else close();
        throw error;
      } finally {
        if (isOpen) probing = false;
      }
    },
  };
}
