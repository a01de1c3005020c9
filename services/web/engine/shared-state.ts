import { type Signal, signal } from '@preact/signals';
import type { Preparing } from '../../../shared/client/transfers/preparing.ts';
import type { InvitedRequest } from '../../../shared/client/session/invites.ts';
import type { ClipboardChange, ConnectionState, Device, Me, PresenceEntry } from '../../../shared/client/index.ts';

/** What all tabs show alike. The tab that holds the stream knows it, and tells the others. */
export interface Shared {
  connection: ConnectionState;
  /** The store behind the service does not answer: what is shown may be old, and nothing can be sent. */
  isDegraded: boolean;
  devices: readonly Device[];
  /** Whether the service has listed them to this page, or to one before it. Only a list says that a device is gone. */
  listed: 'never' | 'before' | 'now';
  presence: readonly PresenceEntry[];
  /** False: nothing has been heard of the account yet. */
  isKnown: boolean;
  clipboard: ClipboardChange | null;
  me: Me | null;
  /** Files that other devices read before they offer them to this one. */
  preparing: readonly Preparing[];
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
  ...{ isKnown: false, clipboard: null, me: null, preparing: [] },
};

export const shared = signal<Shared>(NOTHING);

/** Who asks to be let in with an invite of this device, the newest; the tab that shows the invite answers. */
export const requested = signal<InvitedRequest | null>(null);

const running = new Map<string, Signal<Running | null>>();

/** How a transfer goes; null while it does not run. One signal each, so that a hundred of them do not draw each other. */
export function runningOf(transferId: string): Signal<Running | null> {
  const known = running.get(transferId) ?? signal<Running | null>(null);
  running.set(transferId, known);
  return known;
}

/** The transfers that move now: neither paused nor over. Changes only when one begins or stops. */
export const movingIds = signal<ReadonlySet<string>>(new Set());

/** How a transfer goes from now on; null: it does not run any more. */
export function noteRunning(transferId: string, now: Running | null): void {
  runningOf(transferId).value = now;
  const isMoving = now !== null && !now.isPaused;
  const before = movingIds.peek();
  if (before.has(transferId) === isMoving) return;
  const next = new Set(before);
  if (isMoving) next.add(transferId);
  else next.delete(transferId);
  movingIds.value = next;
}

/** Everything that runs now, for a tab that has just opened. */
export const allRunning = (): [string, Running][] =>
  [...running].flatMap(([id, { value }]) => (value === null ? [] : [[id, value] as [string, Running]]));
