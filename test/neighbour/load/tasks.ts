import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('../child.mjs', import.meta.url));

type Task = (given: never) => unknown;

/** Does the tasks that the parent process names, one at a time. Ends with the parent. */
export function serveTasks(tasks: Readonly<Record<string, Task>>): void {
  process.on('message', ({ task, given }: { task: string; given: never }) => {
    const run = async () => (await tasks[task]?.(given)) ?? null;
    run().then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ failed: String((error as Error).stack) }),
    );
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ result: 'started' });
}

/** A process that does tasks. */
export interface Worker {
  readonly pid: number;
  ask<T>(task: string, given?: object): Promise<T>;
  stop(): Promise<void>;
}

interface WorkerOptions {
  role: 'attacker' | 'account';
  /** The value for `nice`. It is left out if this user may not set it. */
  niceness: number;
}

export async function startWorker({ role, niceness }: WorkerOptions): Promise<Worker> {
  const child: ChildProcess = fork(CHILD, [role], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const answer = async <T>(): Promise<T> => {
    const [message] = (await once(child, 'message')) as [{ result: T; failed?: string }];
    if (message.failed !== undefined) throw new Error(`${role}: ${message.failed}`);
    return message.result;
  };
  await answer();
  const pid = child.pid as number;
  try {
    setPriority(pid, niceness);
  } catch {
    process.stderr.write(`${role} runs at the common priority: this user may not give it ${niceness}\n`);
  }
  const exited = once(child, 'exit');
  return {
    pid,
    ask(task, given = {}) {
      const result = answer();
      child.send({ task, given });
      return result as never;
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
