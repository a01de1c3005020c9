import { defineScript } from '../redis/script.ts';
import {
  type Answer,
  absentOr,
  digits,
  fieldMap,
  flag,
  maybeNumber,
  nothing,
  number,
  randomBits,
  record,
  rows,
  table,
  text,
  textList,
  variants,
  wordSet,
} from '../redis/script-values.ts';
import type { ResetReason } from '../../../shared/contract/stream.ts';
import type { Transitions } from './transitions.ts';

/** Bytes of one page of the log: what a stream may hold in memory while it catches up. */
const PAGE_BYTES = 256 * 1024;

/** Why a position is not valid any more; null when it is. */
const lostReason: Answer<ResetReason | null> = { read: (raw) => (raw || null) as ResetReason | null };

/** Devices that came online and that went offline, `2 1`. */
const transitions: Answer<Transitions> = {
  read: (raw) => {
    const [online = 0, offline = 0] = String(raw ?? '0 0')
      .split(' ')
      .map(Number);
    return { online, offline };
  },
};

/** Of the log: `name` is '' for an entry that is not for this stream; `ended`: its end was reached. */
const page = { entries: rows({ id: text, name: text, data: text }), ended: flag };

export const accountAdd = defineScript({
  file: new URL('./account-add.lua', import.meta.url),
  keys: ['accounts'],
  args: {
    account: text,
  },
  constants: { ACCOUNTS_SECONDS: 7 * 86_400 },
  reply: nothing,
});

export const leaseRenew = defineScript({
  file: new URL('./lease-renew.lua', import.meta.url),
  keys: ['replicas', 'reaping', 'revokedVersion'],
  args: {
    replica: text,
  },
  reply: record({
    renewed: flag,
    counters: fieldMap,
    reaping: fieldMap,
    /** '' when there is none. */
    revocations: text,
    /** By the store's clock. */
    atMs: number,
  }),
});

export const leaseReap = defineScript({
  file: new URL('./lease-reap.lua', import.meta.url),
  keys: ['replicas', 'reaping'],
  args: {
    /** Dead replica. */
    dead: text,
    /** Counter seen, or '' to take over from. */
    counter: text,
    /** The reaper seen, or ''. */
    reaper: text,
    /** The new reaper. */
    newReaper: text,
  },
  reply: record({ claimed: flag }),
});

export const streamAttach = defineScript({
  file: new URL('./stream-attach.lua', import.meta.url),
  keys: ['routes', 'presence', 'devices', 'log', 'mail', 'inbox', 'clipboard', 'due'],
  args: {
    stream: text,
    /** Channel of the replica. */
    channel: text,
    /** Device id or ~name. */
    device: text,
    /** Generation of this attach; an older one than written is ignored. */
    generation: number,
    /** 32 random bits for a marker. */
    random: randomBits,
    /** Position, or ''. */
    position: text,
    /** '1' when the stream opens: limits are checked, the connect is announced, the first page is read. */
    opening: flag,
    /** Presence version that the stream has; a newer one is returned. */
    knownVersion: number,
    dead: wordSet,
    /** Streams of the account that the replica holds. */
    held: wordSet,
    /** Channels to which nobody listens; '' when that was not asked. */
    ghosts: text,
    /** Ms that rows may be older than usual. */
    lateMs: number,
    /** Channels that the replica had before. */
    own: wordSet,
  },
  constants: { PAGE_BYTES },
  settings: ['GRACE_MS'],
  reply: variants('outcome', {
    gone: {},
    old: {},
    busy: {},
    full: { channels: textList },
    attached: {
      top: text,
      presenceVersion: number,
      devices: textList,
      states: textList,
      nextDueInMs: maybeNumber,
      transitions,
      strayInMs: number,
      dropped: number,
      /** Only of a stream that opens. */
      opened: absentOr(
        table({ lostReason, clipboard: text, pendingMessages: number, pendingTransfers: number, ...page }),
      ),
    },
  }),
  announces: true,
});

export const streamDetach = defineScript({
  file: new URL('./stream-detach.lua', import.meta.url),
  keys: ['routes'],
  args: {
    stream: text,
    /** Channel of the replica. */
    channel: text,
    /** Device id or ~name. */
    device: text,
    generation: number,
  },
  reply: nothing,
  announces: true,
});

export const logPage = defineScript({
  file: new URL('./log-page.lua', import.meta.url),
  keys: ['log', 'mail', 'inbox'],
  args: {
    position: text,
    /** Device id or ~name. */
    device: text,
  },
  constants: { PAGE_BYTES },
  reply: record({ lostReason, top: text, ...page }),
});

export const presenceLook = defineScript({
  file: new URL('./presence-look.lua', import.meta.url),
  keys: ['routes', 'presence', 'devices'],
  args: {
    dead: wordSet,
    /** Ms that rows may be older than usual. */
    lateMs: number,
  },
  settings: ['GRACE_MS'],
  reply: record({ againInMs: number, transitions }),
  announces: true,
});

export const signalSend = defineScript({
  file: new URL('./signal-send.lua', import.meta.url),
  keys: ['devices', 'routes', 'log', 'operation', 'rate', 'transfer', 'accountRate'],
  args: {
    /** Device that sends. */
    sender: text,
    /** Target: `=<device id>` or `~<name>`. */
    target: text,
    /** Transfer id, '' without. */
    transferId: text,
    kind: text,
    /** Payload as JSON. */
    payload: text,
    random: randomBits,
    fingerprint: text,
    rememberSeconds: digits,
    /** Ms that rows may be older than usual. */
    lateMs: number,
  },
  settings: ['RATE_LIMIT'],
  reply: record({ receiver: text, routes: rows({ channel: text, device: text }) }),
  announces: true,
  rate: 'signal',
});
