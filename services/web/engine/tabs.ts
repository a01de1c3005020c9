import { signal } from '@preact/signals';
import { noteLife } from '../lock-life.ts';
import { type Held, HELD_ALONE, withLock } from '../locks.ts';
import type { InvitedRequest } from '../../../shared/client/session/invites.ts';
import type { Running, Shared } from './shared-state.ts';
import { makeRecent } from '../../../shared/client/stream/recent.ts';
import { newId } from '../../../shared/client/new-id.ts';

/** A message between the tabs of one account. Files and handles pass unchanged. */
export type TabMessage =
  | { type: 'hello' }
  | { type: 'shared'; part: Partial<Shared> }
  | { type: 'running'; id: string; running: Running | null }
  | { type: 'changed'; thread: string }
  | { type: 'ask'; id: string; command: string; args: readonly unknown[] }
  /** From a tab that begins to lead. */
  | { type: 'leads' }
  | { type: 'told'; id: string; error: { code: string; message: string } | null; value: unknown }
  | { type: 'requested'; request: InvitedRequest }
  | { type: 'signed-out'; reason: string };

/** How many requests the leading tab remembers, so that it runs none twice. */
const MOST_BEGUN = 256;

/** An error of the leading tab, in the tab that asked. */
class TabError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface TabsOptions {
  account: string;
  /** Called with each message of another tab. */
  onMessage: (message: TabMessage) => void;
  /** Called when this tab begins to lead. */
  lead: () => void;
  /** Called when another tab leads in the place of this one, which was frozen or blocked. */
  stepBack: () => Promise<void>;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unexpected';

type Ask = Extract<TabMessage, { type: 'ask' }>;
type Told = Extract<TabMessage, { type: 'told' }>;

/** The messages that only the leading tab sends. */
const OF_LEADER: readonly TabMessage['type'][] = ['shared', 'running', 'told', 'leads'];

/** Keeps the requests of this tab and their responses, and runs the requests in a tab that leads. */
function makeAsks(post: (message: TabMessage) => void, stillLeads: () => Promise<boolean>) {
  const waiting = new Map<string, { ask: Ask; resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  const commands = new Map<string, (...args: never[]) => unknown>();
  const begun = makeRecent(MOST_BEGUN);

  function settle(told: Told): void {
    const asker = waiting.get(told.id);
    waiting.delete(told.id);
    if (asker === undefined) return;
    if (told.error === null) asker.resolve(told.value);
    else asker.reject(new TabError(told.error.code, told.error.message));
  }

  async function answerOf({ id, command, args }: Ask): Promise<Told> {
    try {
      const value = await commands.get(command)?.(...(args as never[]));
      return { type: 'told', id, error: null, value };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { type: 'told', id, error: { code: codeOf(error), message }, value: null };
    }
  }

  return {
    settle,
    commands,
    /** Runs a request of this or another tab, once: it may come again when this tab begins to lead. */
    async run(ask: Ask): Promise<void> {
      // A tab that was frozen gets requests that the next leader has answered.
      if (!(await stillLeads()) || !begun.add(ask.id)) return;
      const told = await answerOf(ask);
      if (waiting.has(ask.id)) settle(told);
      else post(told);
    },
    add: (ask: Ask): Promise<unknown> =>
      new Promise((resolve, reject) => {
        waiting.set(ask.id, { ask, resolve, reject });
      }),
    open: (): Ask[] => [...waiting.values()].map(({ ask }) => ask),
  };
}

/** Returns the name of the channel. Tabs of a version that knows no keys have another one (`older-tabs.ts`). */
const channelOf = (account: string): string => `baton/tabs/${account}`;

/** Opens the channel; null if a browser isolates the pages of an origin from each other. */
export function openChannel(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name);
  } catch {
    return null;
  }
}

interface Leading {
  lock: string;
  /** Aborted when this tab leaves the others. */
  left: AbortSignal;
  onBegin: () => void;
  onEnd: () => Promise<void>;
  onSilent: () => void;
}

/** Waits for the lock of the leading tab, and waits again when another tab has taken it. */
function makeLeading({ lock, left, onBegin, onEnd, onSilent }: Leading) {
  const isLeading = signal(false);
  let held: Held = HELD_ALONE;
  /** True: this tab cannot do what a leading tab does. Another try would fail too. */
  let isUnable = false;

  function begin(now: Held): void {
    held = now;
    isLeading.value = true;
    try {
      onBegin();
    } catch (error) {
      isUnable = true;
      throw error;
    }
  }

  async function leadOnce(): Promise<void> {
    const until = new Promise<void>((resolve) => {
      left.addEventListener('abort', () => resolve(), { once: true });
    });
    const begun = (now: Held): Promise<void> => {
      begin(now);
      return until;
    };
    await withLock(lock, begun, { signal: left, onSilent });
  }

  return {
    isLeading,
    /** Tells whether this tab leads, also when it was frozen until a moment ago and has not heard of the loss. */
    stillLeads: async (): Promise<boolean> => isLeading.value && (await held.isOurs()),

    async wait(): Promise<void> {
      while (!left.aborted && !isUnable) {
        try {
          await leadOnce();
        } catch {
          if (left.aborted) return;
          // Pages without TLS have no locks, and blocked storage refuses them. Then each tab works by itself.
          if (!isLeading.value) return begin(HELD_ALONE);
          isLeading.value = false;
          await onEnd();
        }
      }
    },
  };
}

/**
 * Joins the tabs of one account. Exactly one holds the lock, and with it the event stream and the files. When it is closed,
 * or shows no life while the user sees another tab, the next one takes over. The leading tab runs all commands, whichever
 * tab gives them.
 */
export function joinTabs({ account, onMessage, lead, stepBack }: TabsOptions) {
  const channel = openChannel(channelOf(account));
  const lock = `baton-leader-${account}`;
  const left = new AbortController();
  const post = (message: TabMessage): void => channel?.postMessage(message);
  const { isLeading, stillLeads, wait } = makeLeading({
    ...{ lock, left: left.signal },
    // A tab of the previous version answers only this.
    onSilent: () => post({ type: 'hello' }),
    /** Runs the open requests of this tab itself, because the earlier leader is gone. */
    onBegin() {
      // The other tabs forget the progress of the earlier leader's transfers, so this comes before any new progress. They
      // send requests again that it may not have answered.
      post({ type: 'leads' });
      lead();
      for (const ask of asks.open()) void asks.run(ask);
    },
    /** Hands everything to the tab that leads now. */
    async onEnd() {
      await stepBack();
      post({ type: 'hello' });
      for (const ask of asks.open()) post(ask);
    },
  });
  const asks = makeAsks(post, stillLeads);

  channel?.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (OF_LEADER.includes(data.type)) noteLife(lock);
    if (data.type === 'told') asks.settle(data);
    else if (data.type !== 'ask') onMessage(data);
    else if (isLeading.value) void asks.run(data);
    if (data.type === 'leads') for (const ask of asks.open()) post(ask);
  });

  return {
    isLeading,
    stillLeads,
    post,
    /** Runs a command in the leading tab. */
    ask(command: string, ...args: readonly unknown[]): Promise<unknown> {
      const message: Ask = { type: 'ask', id: newId(), command, args };
      const answer = asks.add(message);
      if (isLeading.value) void asks.run(message);
      else post(message);
      return answer;
    },
    command(name: string, work: (...args: never[]) => unknown): void {
      asks.commands.set(name, work);
    },
    join(): void {
      void wait();
      if (!isLeading.value) post({ type: 'hello' });
    },
    leave(): void {
      left.abort();
      channel?.close();
    },
  };
}

export type Tabs = ReturnType<typeof joinTabs>;
