import { signal } from '@preact/signals';
import { openLasting } from '../history/lasting.ts';
import { keepDevelopmentIdentity } from '../session/development.ts';
import { isOthers, makeClient, type SignedIn } from '../session/entry.ts';
import { endSession, isSigningOut, removeData } from '../session/signing-out.ts';
import { leaveBrowser, takeBrowser } from '../session/this-browser.ts';
import { type Leader, makeLeader } from './leader.ts';
import { makeOutbox, type Outbox } from '../outbox/outbox.ts';
import { type Gate, makeGate } from '../sealing/gate.ts';
import { keyState } from '../sealing/key-state.ts';
import { mendWhenSeen } from '../push/keeping.ts';
import { noteKeyedAccount } from '../service-worker/here.ts';
import type { Queue } from '../outbox/queue.ts';
import { makeReadiness } from '../outbox/readiness.ts';
import { reloadOlderTabs } from './older-tabs.ts';
import type { Parts } from './parts.ts';
import { keepDevices, recallDevices } from './known-devices.ts';
import { allRunning, forgetRunning, noteRunning, requested, type Shared, shared } from './shared-state.ts';
import { joinTabs, type TabMessage, type Tabs } from './tabs.ts';

/** Why the session of this browser is over; null while it is not. */
export const endedBy = signal<string | null>(null);

/** True: this browser keeps no history now, and what is new in the shown one exists only in this page. */
export const isHistoryLost = signal(false);

/** True: it keeps none because its storage does not answer. */
export const isStorageSilent = signal(false);

/** Counts the changes of each thread, so that its view reads it again. */
export const changes = signal<{ thread: string; turn: number }>({ thread: '', turn: 0 });

/** Adds `listed`, which a leading tab of the previous version does not send with the devices. */
const heard = (part: Partial<Shared>): Partial<Shared> =>
  part.devices !== undefined && part.listed === undefined ? { ...part, listed: 'now' } : part;

/** Tells a new tab everything. */
function tellAll(tabs: Tabs): void {
  tabs.post({ type: 'shared', part: shared.value });
  for (const [id, running] of allRunning()) tabs.post({ type: 'running', id, running });
}

/** Learns which devices have keys, or takes the keys of the approval that signed this browser in. */
async function learnKeys(keys: Gate): Promise<void> {
  await (await keys.toSend())?.current();
}

/** Tells the service worker, which has no `localStorage`, and tabs of older versions that this browser has keys. */
function tellOfKeys({ userId }: SignedIn, queue: Queue): void {
  keyState.subscribe(({ kind }) => void noteKeyedAccount(kind === 'keyed' ? userId : null));
  reloadOlderTabs(userId, () => void queue.takeOver().catch(() => {}));
}

function changed(thread: string): void {
  changes.value = { thread, turn: changes.value.turn + 1 };
}

/** Takes what another tab tells. */
function hear(message: TabMessage, tabs: Tabs): void {
  if (message.type === 'shared') shared.value = { ...shared.value, ...heard(message.part) };
  else if (message.type === 'running') noteRunning(message.id, message.running);
  else if (message.type === 'changed') changed(message.thread);
  else if (message.type === 'requested') requested.value = message.request;
  else if (message.type === 'signed-out') endedBy.value = message.reason;
  // If the browser has no locks, each tab leads, and runs transfers of its own.
  else if (message.type === 'leads' && !tabs.isLeading.value) forgetRunning();
  else if (message.type === 'hello' && tabs.isLeading.value) tellAll(tabs);
}

/** Opens the app of a tab that is signed in. */
export async function openApp(entry: SignedIn): Promise<App> {
  await takeBrowser(entry.userId);
  const changedHere = (thread: string): void => {
    changed(thread);
    tabs.post({ type: 'changed', thread });
  };
  const { history, queue } = await openLasting({
    userId: entry.userId,
    onChange: changedHere,
    onLost(isLost, isSilent) {
      isStorageSilent.value = isSilent;
      isHistoryLost.value = isLost;
    },
  });
  const client = makeClient();
  const readiness = makeReadiness({ client, entry });
  const keys = makeGate({ client, history });

  const tell = (part: Partial<Shared>): void => {
    // Another tab leads in the place of this one, and knows better.
    if (!tabs.isLeading.value) return;
    shared.value = { ...shared.value, ...part };
    tabs.post({ type: 'shared', part });
    if (part.devices !== undefined) void keepDevices(history, part.devices).catch(() => {});
  };

  /**
   * Ends the app. The data of a user who was signed out is removed; after an expiry it stays. A session that is only gone from
   * the storage is reported as `logout` too. Another tab has ended it then, and removed what had to go. A sign-out is noted.
   */
  async function end(reason: string): Promise<void> {
    // Somebody else has signed in while this tab slept, and everything that belongs to the browser is theirs.
    if (await isOthers(entry)) return void (endedBy.value = reason);
    keepDevelopmentIdentity(null);
    const isExpired = ['expired', 'logout'].includes(reason) && !isSigningOut(entry);
    const left = leaveBrowser({ isExpired });
    if (!isExpired) {
      history.close();
      await removeData(entry, { withKeys: true });
    }
    await left;
    tabs.post({ type: 'signed-out', reason });
    endedBy.value = reason;
  }

  const signOut = () => endSession(client, entry).then(() => end('logout'));

  let leader: Leader | null = null;
  const tabs: Tabs = joinTabs({
    account: entry.userId,
    onMessage: (message) => hear(message, tabs),
    lead() {
      // Another tab has ended the session, and this page is about to be loaded again.
      if (endedBy.peek() !== null) return;
      // The service refused a call of this tab while another one led.
      if (client.state === 'signed-out') return void end('expired');
      leader ??= makeLeader({ ...parts, outbox, tell, end });
      leader.begin();
    },
    stepBack: async () => leader?.stepBack(),
  });
  const parts: Parts = { entry, client, history, keys, queue, readiness, tabs };
  const outbox = makeOutbox(parts);
  await recallDevices(history);
  tellOfKeys(entry, queue);
  tabs.join();
  mendWhenSeen(tabs);
  outbox.start();
  void learnKeys(keys).catch(() => {});
  return { ...parts, outbox, signOut };
}

export interface App extends Parts {
  outbox: Outbox;
  /** Ends the session, and removes the account's data from this browser. */
  signOut: () => Promise<void>;
}
