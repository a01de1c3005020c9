import type { BatonClient } from '../../../shared/client/index.ts';
import { type Context, untilOver } from '../context.ts';
import { makeProgressLine, type ProgressLine } from '../progress.ts';

/** The parts that all transfers of one command share. */
export interface Online {
  readonly baton: BatonClient;
  readonly url: string;
  /** Never resolves. Rejects at sign-out, or when the command is interrupted. */
  readonly over: Promise<never>;
  readonly line: ProgressLine;
  /** How many files of a transfer are sent at a time; undefined: the library's default. */
  readonly concurrency: number | undefined;
  /** Says once that the same command goes on with what was stopped. */
  sayStopped(): void;
  /** Runs one piece of work after the other, because each reads whole files and draws a bar of its own. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** Makes the shared parts of a command. `isSlow`: its rate is limited, so that fewer pieces are under way. */
export function makeOnline(context: Context, baton: BatonClient, url: string, isSlow: boolean): Online {
  const over = untilOver(context, baton);
  // Between two transfers nobody waits for this promise.
  over.catch(() => {});
  let saidStopped = false;
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...{ baton, url, over },
    line: makeProgressLine(context.output),
    concurrency: isSlow ? 1 : undefined,
    sayStopped() {
      if (!saidStopped) context.output.note('Stopped. The same command, or `baton send --continue`, goes on with it.');
      saidStopped = true;
    },
    inTurn(work) {
      const turn = last.then(work);
      last = turn.catch(() => {});
      return turn;
    },
  };
}
