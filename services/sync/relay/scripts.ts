import { defineScript } from '../redis/script.ts';
import {
  digits,
  flag,
  maybeDigits,
  maybeNumber,
  nothing,
  number,
  oneOf,
  record,
  rest,
  restOfWords,
  rows,
  text,
  textList,
  variants,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

/** Channels of the sender of a file and of its reader, '' for none. */
const parties = { sender: text, reader: text };

export const relayDrop = defineScript({
  file: new URL('./lua/relay-drop.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {},
  reply: record(parties),
});

export const relayEvict = defineScript({
  file: new URL('./lua/relay-evict.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    /** Generation of the bytes. */
    generation: digits,
  },
  reply: record(parties),
});

export const relayCreate = defineScript({
  file: new URL('./lua/relay-create.lua', import.meta.url),
  keys: ['state', 'before', 'bytes'],
  args: {
    generation: digits,
    /** Offset at which it begins. */
    base: digits,
  },
  settings: ['IDLE_MS'],
  reply: record(parties),
});

export const relayOpen = defineScript({
  file: new URL('./lua/relay-open.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    /** Generation in the record. */
    generation: digits,
    /** `w`: to send | `r`: to read | `-`: to find out. */
    side: oneOf('w', 'r', '-'),
    token: text,
    channel: text,
    /** Offset from which it sends or reads, '' for `-`. */
    from: maybeDigits,
    /** Whether the time to live of the file begins again. */
    keepsAlive: flag,
    /** Offset before which a reader needs nothing. */
    keepFrom: number,
  },
  settings: ['IDLE_MS'],
  reply: variants('found', {
    lost: { generation: number },
    newer: { generation: number },
    here: { generation: number, end: number, kept: number, taken: number, base: number, replaced: text },
  }),
});

export const relayLeave = defineScript({
  file: new URL('./lua/relay-leave.lua', import.meta.url),
  keys: ['state'],
  args: {
    /** `w`: the sender | `r`: the reader. */
    side: oneOf('w', 'r'),
    token: text,
  },
  reply: nothing,
});

export const relayTake = defineScript({
  file: new URL('./lua/relay-take.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    /** Token of the reader; '' for an acknowledgement, which comes from the device and not from one request. */
    token: text,
    /** Taken up to here. */
    position: digits,
    /** Keep from here. */
    keepFrom: number,
    /** Ms to live; an acknowledgement leaves that as it is. */
    liveMs: digits,
  },
  reply: record({ held: flag, notify: text, got: number, end: maybeNumber }),
});

export const relayWaitRead = defineScript({
  file: new URL('./lua/relay-wait-read.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    token: text,
    generation: digits,
    position: digits,
    /** Offset that the end of the bytes has to reach for the reader to be notified. */
    wanted: digits,
    channel: text,
  },
  settings: ['IDLE_MS'],
  reply: record({ word: oneOf('lost', 'newer', 'replaced', 'go', 'wait'), generation: number, hasBegun: flag }),
});

export const relayWaitWrite = defineScript({
  file: new URL('./lua/relay-wait-write.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    token: text,
    generation: digits,
    /** Offset up to which bytes have to be taken for the sender to be notified. */
    wanted: digits,
    channel: text,
  },
  settings: ['IDLE_MS'],
  reply: record({ taken: maybeNumber, notify: text }),
});

export const relayCommit = defineScript({
  file: new URL('./lua/relay-commit.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    /** Token of the sender. */
    token: text,
    /** Start of the chunk. */
    start: digits,
    chunkEnd: digits,
    /** Notify a waiting reader even of few bytes. */
    urgent: flag,
  },
  settings: ['IDLE_MS'],
  reply: record({ taken: maybeNumber, notify: text, waiting: text }),
});

export const relayReserve = defineScript({
  file: new URL('./lua/relay-reserve.lua', import.meta.url),
  keys: ['files', 'kept'],
  args: { file: text },
  settings: ['IDLE_MS'],
  reply: record({ isNew: flag }),
});

export const relayRelease = defineScript({
  file: new URL('./lua/relay-release.lua', import.meta.url),
  keys: ['files', 'kept'],
  args: { files: restOfWords },
  reply: nothing,
});

export const relayKeep = defineScript({
  file: new URL('./lua/relay-keep.lua', import.meta.url),
  keys: ['files', 'kept'],
  args: {
    file: text,
    generation: digits,
    /** '1': it gives its reservation back | '0': a file with a reservation is left as it is. */
    gives: flag,
  },
  settings: ['IDLE_MS'],
  reply: record({ gone: rest(textList) }),
});

export const relayRead = defineScript({
  file: new URL('./lua/relay-read.lua', import.meta.url),
  keys: ['reads', 'files', 'kept'],
  args: {
    file: text,
    token: text,
    channel: text,
    /** '1': the request begins | '0': it goes on. */
    begins: flag,
  },
  constants: {
    /**
     * Time to live of a reader's reservation. It survives late renewals, and does not outlive its replica for long: a
     * bit more than three times the longest time between two renewals.
     */
    READ_PLACE_MS: 210_000,
  },
  settings: ['IDLE_MS'],
  reply: record({ held: flag, replaced: text }),
});

export const relayUnread = defineScript({
  file: new URL('./lua/relay-unread.lua', import.meta.url),
  keys: ['reads'],
  args: { file: text, token: text },
  reply: nothing,
});

export const relayReaders = defineScript({
  file: new URL('./lua/relay-readers.lua', import.meta.url),
  keys: ['reads'],
  args: {
    /** Prefix of the names. */
    prefix: text,
  },
  reply: record({ readers: rest(rows({ file: text, channel: text })) }),
});
