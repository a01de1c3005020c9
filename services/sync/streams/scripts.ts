import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';
import { transitions } from '../presence/scripts.ts';
import { liveness } from '../replicas/liveness.ts';
import type { ResetReason } from '../../../shared/contract/modules/stream.ts';

const defineScript = scriptsIn(import.meta.url);

/** Bytes of one page of the log, which a stream may hold in memory while it catches up. */
const PAGE_BYTES = 256 * 1024;

/** Reason why a position is no longer valid; null when it is valid. */
const lostReason: t.Answer<ResetReason | null> = { read: (raw) => (raw || null) as ResetReason | null };

/**
 * A page of the log: `name` is '' for an entry that is not for this stream; `ended`: the page reached the end of the
 * log.
 */
const page = { entries: t.rows({ id: t.text, name: t.text, data: t.text }), ended: t.flag };

/** The arguments of an attach that describe its stream. */
const own = {
  stream: t.text,
  /** Channel of the replica. */
  channel: t.text,
  /** Device id or ~name. */
  device: t.text,
  /** Number of this attach. A lower number than the written one is ignored. */
  attachNumber: t.digits,
  /** 32 random bits for a marker. */
  random: t.randomBits,
  liveness,
};

const late = {
  /** The stream was closed. */
  gone: {},
  /** A later attach came first. */
  old: {},
};

const attached = {
  top: t.text,
  presenceVersion: t.number,
  devices: t.textList,
  states: t.textList,
  transitions,
  /**
   * In how many ms the script can distinguish a route that leads to no stream of this replica from the route of a new
   * stream. 0: there is no such route.
   */
  orphanInMs: t.number,
  /** Number of routes that led to no stream and were dropped. */
  dropped: t.number,
};

/** The attach of a stream that opens. It checks limits, announces the connect and reads the first page. */
export const streamOpen = defineScript('stream-open', {
  keys: ['routes', 'presence', 'devices', 'log', 'mail', 'inbox', 'offers', 'clipboard', 'invites'],
  args: { ...own, position: t.text },
  constants: { PAGE_BYTES },
  settings: ['GRACE_MS'],
  reply: t.variants('outcome', {
    ...late,
    /** The account is at its limit of streams. */
    busy: {},
    /** The account or the device seems to be at its limit, but these channels of other streams may be silent. */
    full: { channels: t.textList },
    attached: {
      ...attached,
      lostReason,
      clipboard: t.text,
      pendingMessages: t.number,
      pendingTransfers: t.number,
      hasInvites: t.flag,
      ...page,
    },
  }),
  announces: true,
  runsWhenFull: true,
});

/** Every later attach of the stream. */
export const streamAttach = defineScript('stream-attach', {
  keys: ['routes', 'presence', 'devices', 'log', 'due'],
  args: {
    ...own,
    /** Presence version that the stream has; a newer one is returned. */
    knownVersion: t.number,
  },
  settings: ['GRACE_MS'],
  reply: t.variants('outcome', { ...late, attached: { ...attached, nextDueInMs: t.maybeNumber } }),
  announces: true,
  runsWhenFull: true,
});

export const streamDetach = defineScript('stream-detach', {
  keys: ['routes'],
  args: {
    stream: t.text,
    /** Channel of the replica. */
    channel: t.text,
    /** Device id or ~name. */
    device: t.text,
    attachNumber: t.digits,
  },
  runsWhenFull: true,
});

export const logPage = defineScript('log-page', {
  keys: ['log', 'mail', 'inbox'],
  args: {
    position: t.text,
    /** Device id or ~name. */
    device: t.text,
  },
  constants: { PAGE_BYTES },
  reply: t.record({ lostReason, top: t.text, ...page }),
});
