import { computed, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { App } from '../engine/app.ts';
import { type Shared, shared } from '../engine/shared-state.ts';
import type { Thread } from '../history/database.ts';
import { isCutOff } from './cut-off.ts';

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === null) throw new Error('There is no app around this');
  return app;
}

/** The threads of this browser's history, read again after changes. */
export const threads = signal<ReadonlyMap<string, Thread>>(new Map());

/** A row of the list: a device of the account, a live session without a device, or a device that only the history knows. */
export interface Peer {
  id: string;
  name: string;
  type: string | null;
  isOnline: boolean;
  lastSeenAt: number | null;
  isCurrent: boolean;
  kind: 'device' | 'live' | 'past';
  unread: number;
  lastAt: number;
}

const byUse = (one: Peer, other: Peer): number =>
  Number(other.isOnline) - Number(one.isOnline) || other.lastAt - one.lastAt || one.name.localeCompare(other.name);

/**
 * Returns the kind of an entry that no list has. Before the first list nothing is known to be gone. Only a session is never
 * a device.
 */
export const kindOfUnlisted = (id: string, listed: Shared['listed']): Peer['kind'] =>
  listed === 'never' && !id.startsWith('name:') ? 'device' : 'past';

/**
 * The peers that this device can reach, and those of earlier threads. Without a connection none is called online, and all
 * keep their places.
 */
export const peers = computed<readonly Peer[]>(() => {
  const { devices, presence, listed } = shared.value;
  const heard = new Map(presence.map((entry) => [entry.device_id ?? `name:${entry.name}`, entry]));
  const known = devices.map((device): Peer => {
    const now = heard.get(device.device_id);
    return {
      ...{ id: device.device_id, name: now?.name ?? device.name, type: device.type },
      ...{ isOnline: now?.online ?? device.online, lastSeenAt: now?.last_seen_at ?? device.last_seen_at },
      ...{ isCurrent: device.current, kind: 'device' as const, unread: 0, lastAt: 0 },
    };
  });
  const ids = new Set(known.map(({ id }) => id));
  const live = [...heard]
    .filter(([, { device_id }]) => device_id === null)
    .map(([id, { name, type }]): Peer => {
      const rest = { isOnline: true, lastSeenAt: null, isCurrent: false, kind: 'live' as const, unread: 0, lastAt: 0 };
      return { id, name, type, ...rest };
    });
  for (const { id } of live) ids.add(id);
  const past = [...threads.value.values()]
    .filter(({ id, lastAt }) => !ids.has(id) && lastAt > 0)
    .map(({ id, name }): Peer => {
      const rest = {
        type: null,
        isOnline: false,
        lastSeenAt: null,
        isCurrent: false,
        kind: kindOfUnlisted(id, listed),
      };
      return { id, name, ...rest, unread: 0, lastAt: 0 };
    });
  return [...known, ...live, ...past]
    .map((peer) => {
      const thread = threads.value.get(peer.id);
      return { ...peer, unread: thread?.unread ?? 0, lastAt: thread?.lastAt ?? 0 };
    })
    .sort(byUse)
    .map((peer) => (isCutOff.value && peer.isOnline ? { ...peer, isOnline: false, lastSeenAt: null } : peer));
});

/** When the session of a guest ends, as stored in this browser: known before the service describes this device. */
export const guestUntil = signal<number | null>(null);

/** True for guests, who cannot let anybody in, and can end only their own session. */
export const isGuest = computed(
  () => (shared.value.me?.scope ?? (guestUntil.value === null ? 'full' : 'guest')) === 'guest',
);

export const others = computed(() => peers.value.filter(({ isCurrent }) => !isCurrent));
/** True: the account has no other device now. Former devices do not count. */
export const isAlone = computed(() => others.value.every(({ kind }) => kind === 'past'));
export const findPeer = (id: string): Peer | undefined => peers.value.find((peer) => peer.id === id);
