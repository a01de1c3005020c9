import type { Clock } from '../time/clock.ts';
import type { Connection } from './connection.ts';
import type { Pace } from './pace.ts';
import { type StreamState, stateAfter } from './stream-state.ts';
import { onWake } from './wake.ts';

/** The time between a `start` and its `stop`: one connection after the other. */
export interface Life {
  /** Resolves when the last connection is closed and no timer is left. Never rejects. */
  readonly ended: Promise<void>;
  end(): void;
  /** Ends a wait at once, including the wait of a superseded stream. */
  retryNow(): void;
}

interface Attempt {
  readonly connection: Connection;
  /** Returns the milliseconds since it delivered `ready`; null when it has not. */
  readyForMs(): number | null;
}

interface Parts {
  connect: () => Attempt;
  pace: Pace;
  clock: Clock;
  report: (state: StreamState) => void;
  /** The end of the earlier life. */
  before: Promise<void>;
}

export function startLife({ connect, pace, clock, report, before }: Parts): Life {
  let over = false;
  let superseded = false;
  let connection: Connection | null = null;
  let endWait = (): void => {};

  /** Waits. Null: until somebody ends the wait. */
  function wait(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === null ? () => {} : clock.after(ms, resolve);
      endWait = () => {
        cancel();
        resolve();
      };
    });
  }

  async function connectOnce(): Promise<void> {
    const attempt = connect();
    connection = attempt.connection;
    report({ state: 'connecting' });
    const drop = await connection.over;
    connection = null;
    if (over) return;
    superseded = drop.cause === 'superseded';
    const delayMs = superseded ? null : pace.nextDelayMs(drop, attempt.readyForMs());
    // The wait begins before the report, because the receiver of the report may call `retryNow`.
    const waited = wait(delayMs);
    report(stateAfter(drop, delayMs));
    await waited;
  }

  async function run(): Promise<void> {
    const forgetWake = onWake(() => {
      connection?.wake();
      if (!superseded) endWait();
    });
    while (!over) await connectOnce();
    forgetWake();
    report({ state: 'stopped' });
  }

  return {
    ended: before.then(run),
    end() {
      over = true;
      connection?.end('stopped');
      endWait();
    },
    retryNow: () => endWait(),
  };
}
