import { type Signal, signal } from '@preact/signals';
import type { Preparing } from '../../../shared/client/transfers/preparing.ts';
import type { InvitedRequest } from '../../../shared/client/session/invites.ts';
import type { Deletion } from '../../../shared/client/sealing.ts';
import type { ClipboardChange, ConnectionState, Device, Me, PresenceEntry } from '../../../shared/client/index.ts';

/**
 * A device that does not stay. `until`: the end of its session, which moves when a guest that was let in for good uses it.
 */
export interface Stay {
  isGuest: boolean;
  until: number | null;
}

/** The state that all tabs show. The tab that holds the stream knows it, and tells the others. */
export interface Shared {
  connection: ConnectionState;
  /** True: the store behind the service does not answer, so that the state may be old, and nothing can be sent. */
  isDegraded: boolean;
  devices: readonly Device[];
  /** Whether the service has listed them to this page, or to an earlier one. Only a list shows that a device is gone. */
  listed: 'never' | 'before' | 'now';
  presence: readonly PresenceEntry[];
  /** False: nothing is known about the account yet. */
  isKnown: boolean;
  clipboard: ClipboardChange | null;
  me: Me | null;
  /** The number of the newest ring that the service has told about; 0 before that. */
  ringNumber: number;
  /** Counts what the service has told about rings and guests. A list of guests changes without another ring. */
  keysHeard: number;
  /** The announced deletions that can be cancelled. */
  deletions: readonly Deletion[];
  /** The device that was removed or logged out last, once it is noted with the keys of this browser. */
  removed: string;
  /** Files that other devices read before they offer them to this one. */
  preparing: readonly Preparing[];
  /** The devices that do not stay, by their ids. Guests do not know them. */
  stays: Readonly<Record<string, Stay>>;
}

/** A transfer that runs in the leading tab. */
export interface Running {
  bytes: number;
  totalBytes: number;
  bytesPerSecond: number;
  secondsLeft: number | null;
  path: string | null;
  isPaused: boolean;
}

const NOTHING: Shared = {
  ...{ connection: 'connecting', isDegraded: false, devices: [], listed: 'never', presence: [] },
  ...{ isKnown: false, clipboard: null, me: null, ringNumber: 0, keysHeard: 0, removed: '' },
  ...{ deletions: [], preparing: [], stays: {} },
};

export const shared = signal<Shared>(NOTHING);

/** The newest request with an invite of this device. The tab that shows the invite answers it. */
export const requested = signal<InvitedRequest | null>(null);

const running = new Map<string, Signal<Running | null>>();
/** The transfers whose progress is shown. */
const shown = new Set<string>();

/** Drops transfers that are over and not shown, because a page that is open all day sees many of them. */
function dropOver(transferId: string): void {
  if (!shown.has(transferId) && running.get(transferId)?.peek() === null) running.delete(transferId);
}

function makeProgress(transferId: string): Signal<Running | null> {
  return signal<Running | null>(null, {
    watched: () => void shown.add(transferId),
    unwatched() {
      shown.delete(transferId);
      dropOver(transferId);
    },
  });
}

/**
 * Returns the progress of a transfer; null while it does not run. Each has its own signal, so that a hundred of them do not
 * redraw each other.
 */
export function runningOf(transferId: string): Signal<Running | null> {
  const known = running.get(transferId) ?? makeProgress(transferId);
  running.set(transferId, known);
  return known;
}

/** The transfers that are not over, including paused ones. Changes only when one begins or ends. */
export const runningIds = signal<ReadonlySet<string>>(new Set());
/** The transfers that move now, neither paused nor over. Changes only when one begins or stops. */
export const movingIds = signal<ReadonlySet<string>>(new Set());

function keepIn(ids: Signal<ReadonlySet<string>>, id: string, isIn: boolean): void {
  const before = ids.peek();
  if (before.has(id) === isIn) return;
  ids.value = new Set(isIn ? [...before, id] : [...before].filter((one) => one !== id));
}

/** Sets the progress of a transfer; null: it no longer runs. */
export function noteRunning(transferId: string, now: Running | null): void {
  runningOf(transferId).value = now;
  dropOver(transferId);
  keepIn(runningIds, transferId, now !== null);
  keepIn(movingIds, transferId, now !== null && !now.isPaused);
}

/** Returns all running transfers, for a tab that has just opened. */
export const allRunning = (): [string, Running][] =>
  [...running].flatMap(([id, { value }]) => (value === null ? [] : [[id, value] as [string, Running]]));

/** Forgets all progress, because the tab in which the transfers ran is gone. */
export function forgetRunning(): void {
  for (const [id] of allRunning()) noteRunning(id, null);
}
