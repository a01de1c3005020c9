import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

/** Channels of the sender of a file and of its reader, '' for none. */
const parties = { sender: t.text, reader: t.text };

export const relayDrop = defineScript('relay-drop', {
  keys: ['state', 'bytes'],
  reply: t.record(parties),
});

export const relayEvict = defineScript('relay-evict', {
  keys: ['state', 'bytes'],
  args: {
    /** Generation of the bytes. */
    generation: t.digits,
  },
  reply: t.record(parties),
});

export const relayCreate = defineScript('relay-create', {
  keys: ['state', 'before', 'bytes'],
  args: {
    generation: t.digits,
    /** Offset at which it begins. */
    base: t.digits,
  },
  settings: ['IDLE_MS'],
  reply: t.record(parties),
});

export const relayOpen = defineScript('relay-open', {
  keys: ['state', 'bytes'],
  args: {
    /** Generation in the record. */
    generation: t.digits,
    /** `w`: to send | `r`: to read | `-`: to find out. */
    side: t.oneOf('w', 'r', '-'),
    token: t.text,
    channel: t.text,
    /** Offset from which it sends or reads, '' for `-`. */
    from: t.maybeDigits,
    /** Whether the time to live of the file begins again. */
    keepsAlive: t.flag,
    /** Offset before which a reader needs nothing. */
    keepFrom: t.number,
  },
  settings: ['IDLE_MS'],
  reply: t.variants('found', {
    lost: { generation: t.number },
    newer: { generation: t.number },
    here: { generation: t.number, end: t.number, kept: t.number, taken: t.number, base: t.number, replaced: t.text },
  }),
});

export const relayLeave = defineScript('relay-leave', {
  keys: ['state'],
  args: {
    /** `w`: the sender | `r`: the reader. */
    side: t.oneOf('w', 'r'),
    token: t.text,
  },
});

export const relayTake = defineScript('relay-take', {
  keys: ['state', 'bytes'],
  args: {
    /** Token of the reader; '' for an acknowledgement, which comes from the device and not from one request. */
    token: t.text,
    /** Taken up to here. */
    position: t.digits,
    /** Keep from here. */
    keepFrom: t.number,
    /** Ms to live; an acknowledgement leaves that as it is. */
    liveMs: t.digits,
  },
  reply: t.record({
    /** False when another request reads now. */
    held: t.flag,
    /** The channel of a sender that waits for space, or ''. */
    notify: t.text,
    /** Offset up to which this reader and those before have taken everything. */
    got: t.number,
    /** Offset where the bytes end; null when they are gone. */
    end: t.maybeNumber,
  }),
});

export const relayWaitRead = defineScript('relay-wait-read', {
  keys: ['state', 'bytes'],
  args: {
    token: t.text,
    generation: t.digits,
    position: t.digits,
    /** Offset that the end of the bytes has to reach for the reader to be notified. */
    wanted: t.digits,
    channel: t.text,
  },
  settings: ['IDLE_MS'],
  reply: t.record({ word: t.oneOf('lost', 'newer', 'replaced', 'go', 'wait'), generation: t.number, hasBegun: t.flag }),
});

export const relayWaitWrite = defineScript('relay-wait-write', {
  keys: ['state', 'bytes'],
  args: {
    token: t.text,
    generation: t.digits,
    /** Offset up to which bytes have to be taken for the sender to be notified. */
    wanted: t.digits,
    channel: t.text,
  },
  settings: ['IDLE_MS'],
  reply: t.record({ taken: t.maybeNumber, notify: t.text }),
});

export const relayCommit = defineScript('relay-commit', {
  keys: ['state', 'bytes'],
  args: {
    /** Token of the sender. */
    token: t.text,
    /** Start of the chunk. */
    start: t.digits,
    chunkEnd: t.digits,
    /** Notify a waiting reader even of few bytes. */
    urgent: t.flag,
  },
  settings: ['IDLE_MS'],
  reply: t.record({
    /**
     * Offset up to which the receiver took bytes. Null: the chunk was refused, because another request sends now, or
     * the chunk before it is missing.
     */
    taken: t.maybeNumber,
    /** The channel of a reader to notify, or ''. */
    notify: t.text,
    /** The channel of a reader that waits for more than there is, or ''. */
    waiting: t.text,
  }),
});

export const relayReserve = defineScript('relay-reserve', {
  keys: ['files', 'kept'],
  args: { file: t.text },
  settings: ['IDLE_MS'],
  reply: t.record({ isNew: t.flag }),
});

export const relayRelease = defineScript('relay-release', {
  keys: ['files', 'kept'],
  args: { files: t.restOfWords },
});

export const relayKeep = defineScript('relay-keep', {
  keys: ['files', 'kept'],
  args: {
    file: t.text,
    generation: t.digits,
    /** '1': it gives its reservation back | '0': a file with a reservation is left as it is. */
    gives: t.flag,
  },
  settings: ['IDLE_MS'],
  reply: t.record({ gone: t.rest(t.textList) }),
});

export const relayRead = defineScript('relay-read', {
  keys: ['reads', 'files', 'kept'],
  args: {
    file: t.text,
    token: t.text,
    channel: t.text,
    /** '1': the request begins | '0': it goes on. */
    begins: t.flag,
  },
  constants: {
    /**
     * Time to live of a reader's reservation. It survives late renewals, and does not outlive its replica for long: a
     * bit more than three times the longest time between two renewals.
     */
    READ_PLACE_MS: 210_000,
  },
  settings: ['IDLE_MS'],
  reply: t.record({ held: t.flag, replaced: t.text }),
});

export const relayUnread = defineScript('relay-unread', {
  keys: ['reads'],
  args: { file: t.text, token: t.text },
});

export const relayReaders = defineScript('relay-readers', {
  keys: ['reads'],
  args: {
    /** Prefix of the names. */
    prefix: t.text,
  },
  reply: t.record({ readers: t.rest(t.rows({ file: t.text, channel: t.text })) }),
});
