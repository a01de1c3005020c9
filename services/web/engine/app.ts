import { signal } from '@preact/signals';
import { openHistory, removeHistory } from '../history/database.ts';
import { makeHistory } from '../history/history.ts';
import { keepDevelopmentIdentity } from '../session/development.ts';
import { makeClient } from '../session/entry.ts';
import { leaveBrowser, takeBrowser } from '../session/this-browser.ts';
import { clearKept } from '../files/kept-files.ts';
import { startLeading } from './leader.ts';
import type { Parts, SignedIn } from './parts.ts';
import { allRunning, runningOf, type Shared, shared } from './shared-state.ts';
import { joinTabs, type TabMessage } from './tabs.ts';

/** Why the session of this browser is over; null while it is not. */
export const endedBy = signal<string | null>(null);

/** Counts the changes of each thread, so that what shows one reads it anew. */
export const changes = signal<{ thread: string; turn: number }>({ thread: '', turn: 0 });

/** Everything that a signed-in tab has. */
export async function openApp(entry: SignedIn): Promise<App> {
  await takeBrowser(entry.userId);
  const database = await openHistory(entry.userId);
  const changed = (thread: string): void => {
    changes.value = { thread, turn: changes.value.turn + 1 };
  };
  const history = makeHistory(database, (thread) => {
    changed(thread);
    tabs.post({ type: 'changed', thread });
  });
  const client = makeClient();

  function onMessage(message: TabMessage): void {
    if (message.type === 'shared') shared.value = { ...shared.value, ...message.part };
    else if (message.type === 'running') runningOf(message.id).value = message.running;
    else if (message.type === 'changed') changed(message.thread);
    else if (message.type === 'signed-out') endedBy.value = message.reason;
    else if (message.type === 'hello' && tabs.isLeading.value) {
      tabs.post({ type: 'shared', part: shared.value });
      for (const [id, running] of allRunning()) tabs.post({ type: 'running', id, running });
    }
  }

  const tell = (part: Partial<Shared>): void => {
    shared.value = { ...shared.value, ...part };
    tabs.post({ type: 'shared', part });
  };

  /** What is kept of somebody who was signed out goes; what only ran out of time stays. */
  async function end(reason: string): Promise<void> {
    keepDevelopmentIdentity(null);
    const isExpired = reason === 'expired';
    const left = leaveBrowser({ isExpired });
    if (!isExpired) {
      history.close();
      await Promise.allSettled([removeHistory(entry.userId), clearKept(entry.userId)]);
    }
    await left;
    tabs.post({ type: 'signed-out', reason });
    endedBy.value = reason;
  }

  const tabs = joinTabs({
    account: entry.userId,
    onMessage,
    lead: () => startLeading({ client, entry, history, tabs, tell, end }),
  });
  tabs.join();
  return { entry, client, history, tabs, end };
}

export interface App extends Parts {
  /** Leaves, for that reason, with what this browser has of the account. */
  end: (reason: string) => Promise<void>;
}
