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
    /** The one in the record. */
    generation: digits,
    /** W: to send | r: to read | -: to find out. */
    side: oneOf('w', 'r', '-'),
    token: text,
    /** Its channel. */
    channel: text,
    /** Where it sends or reads from, '' for others. */
    from: maybeDigits,
    /** Whether its time to live begins again. */
    keepsAlive: flag,
    /** A reader needs nothing before this. */
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
    /** W | r. */
    side: oneOf('w', 'r'),
    token: text,
  },
  reply: nothing,
});

export const relayTake = defineScript({
  file: new URL('./lua/relay-take.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    /** Token of the reader; '' for an acknowledgement, which is the device's. */
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
    /** It is notified when the bytes end here or behind. */
    wanted: digits,
    /** Its channel. */
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
    /** It is notified when so much is taken. */
    wanted: digits,
    /** Its channel. */
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
    /** End of the chunk. */
    chunkEnd: digits,
    /** Notify a waiting reader however little it is. */
    urgent: flag,
  },
  settings: ['IDLE_MS'],
  reply: record({ taken: maybeNumber, notify: text, waiting: text }),
});

export const relayReserve = defineScript({
  file: new URL('./lua/relay-reserve.lua', import.meta.url),
  keys: ['files', 'kept'],
  args: {
    file: text,
  },
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
    /** It gives its reservation back | '0': with a reservation it is not kept. */
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
    /** Its channel. */
    channel: text,
    /** The request begins | '0': it goes on. */
    begins: flag,
  },
  constants: {
    /**
     * The reservation of a reader outlives renewals that come late, and its replica not for long: three times the longest time
     * between two renewals, and something.
     */
    READ_PLACE_MS: 210_000,
  },
  settings: ['IDLE_MS'],
  reply: record({ held: flag, replaced: text }),
});

export const relayUnread = defineScript({
  file: new URL('./lua/relay-unread.lua', import.meta.url),
  keys: ['reads'],
  args: {
    file: text,
    token: text,
  },
  reply: nothing,
});

export const relayReaders = defineScript({
  file: new URL('./lua/relay-readers.lua', import.meta.url),
  keys: ['reads'],
  args: {
    /** How the names begin. */
    prefix: text,
  },
  reply: record({ readers: rest(rows({ file: text, channel: text })) }),
});
