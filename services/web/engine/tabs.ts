import { signal } from '@preact/signals';
import type { Running, Shared } from './shared-state.ts';

/** What tabs of one account tell each other. Files and handles pass as they are. */
export type TabMessage =
  | { type: 'hello' }
  | { type: 'shared'; part: Partial<Shared> }
  | { type: 'running'; id: string; running: Running | null }
  | { type: 'changed'; thread: string }
  | { type: 'ask'; id: string; command: string; args: readonly unknown[] }
  | { type: 'told'; id: string; error: { code: string; message: string } | null; value: unknown }
  | { type: 'signed-out'; reason: string };

/** An error of the leading tab, in the tab that had asked. */
export class TabError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface TabsOptions {
  account: string;
  /** What came from other tabs. */
  onMessage: (message: TabMessage) => void;
  /** This tab leads from now on, until it is closed. */
  lead: () => void;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unexpected';

/**
 * The tabs of one account: exactly one holds the lock and with it the event stream and the files; when it is closed the next
 * one has its turn. Commands are run by the leading tab, whichever tab they are given in.
 */
export function joinTabs({ account, onMessage, lead }: TabsOptions) {
  const channel = new BroadcastChannel(`baton-${account}`);
  const isLeading = signal(false);
  const waiting = new Map<string, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  const given = new Map<string, Extract<TabMessage, { type: 'ask' }>>();
  const commands = new Map<string, (...args: never[]) => unknown>();
  const held = new AbortController();

  const post = (message: TabMessage): void => channel.postMessage(message);

  async function run({ id, command, args }: Extract<TabMessage, { type: 'ask' }>): Promise<void> {
    try {
      const value = await commands.get(command)?.(...(args as never[]));
      settle({ type: 'told', id, error: null, value });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      settle({ type: 'told', id, error: { code: codeOf(error), message }, value: null });
    }
  }

  function settle(told: Extract<TabMessage, { type: 'told' }>): void {
    const asker = waiting.get(told.id);
    given.delete(told.id);
    waiting.delete(told.id);
    if (asker === undefined) post(told);
    else if (told.error === null) asker.resolve(told.value);
    else asker.reject(new TabError(told.error.code, told.error.message));
  }

  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (data.type === 'ask') {
      if (isLeading.value) void run(data);
    } else if (data.type === 'told') {
      if (waiting.has(data.id)) settle(data);
    } else onMessage(data);
  });

  /** What this tab had asked of a tab that is gone now it does itself. */
  function begin(): void {
    isLeading.value = true;
    lead();
    for (const ask of given.values()) void run(ask);
  }

  function wait(): void {
    const until = new Promise<void>((resolve) => {
      held.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    // Pages without TLS have no locks, and then each tab stands for itself.
    if (!('locks' in navigator)) return begin();
    navigator.locks
      .request(`baton-leader-${account}`, { signal: held.signal }, () => {
        begin();
        return until;
      })
      .catch(() => {});
  }

  return {
    isLeading,
    post,
    /** Runs a command in the leading tab. */
    ask(command: string, ...args: readonly unknown[]): Promise<unknown> {
      const message = { type: 'ask' as const, id: crypto.randomUUID(), command, args };
      return new Promise((resolve, reject) => {
        waiting.set(message.id, { resolve, reject });
        given.set(message.id, message);
        if (isLeading.value) void run(message);
        else post(message);
      });
    },
    command(name: string, work: (...args: never[]) => unknown): void {
      commands.set(name, work);
    },
    join(): void {
      wait();
      if (!isLeading.value) post({ type: 'hello' });
    },
    leave(): void {
      held.abort();
      channel.close();
    },
  };
}

export type Tabs = ReturnType<typeof joinTabs>;
