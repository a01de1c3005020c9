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
} from '../../server/redis/scripts/script-values.ts';

/** Channels of the sender of a file and of its reader, '' for none. */
const atIt = { sender: text, reader: text };

export const relayDrop = defineScript({
  file: new URL('./relay-drop.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {},
  reply: record(atIt),
});

export const relayEvict = defineScript({
  file: new URL('./relay-evict.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    /** Generation of the bytes. */
    generation: digits,
  },
  reply: record(atIt),
});

export const relayCreate = defineScript({
  file: new URL('./relay-create.lua', import.meta.url),
  keys: ['state', 'before', 'bytes'],
  args: {
    generation: digits,
    /** Offset at which it begins. */
    base: digits,
  },
  settings: ['IDLE_MS'],
  reply: record(atIt),
});

export const relayOpen = defineScript({
  file: new URL('./relay-open.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    /** Generation that the record tells. */
    generation: digits,
    /** W: to send | r: to read | -: to look. */
    side: oneOf('w', 'r', '-'),
    token: text,
    /** Its channel. */
    channel: text,
    /** Where it sends or reads from, '' for others. */
    from: maybeDigits,
    /** Ms to live, '' to leave that as it is: who only looks keeps nothing alive. */
    keepsAlive: flag,
    /** Where a reader begins it needs nothing before this. */
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
  file: new URL('./relay-leave.lua', import.meta.url),
  keys: ['state'],
  args: {
    /** W | r. */
    side: oneOf('w', 'r'),
    token: text,
  },
  reply: nothing,
});

export const relayTake = defineScript({
  file: new URL('./relay-take.lua', import.meta.url),
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
  reply: record({ held: flag, notify: text, got: number }),
});

export const relayWaitRead = defineScript({
  file: new URL('./relay-wait-read.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    token: text,
    generation: digits,
    position: digits,
    /** End from which on it is worth ringing. */
    wanted: digits,
    /** Its channel. */
    channel: text,
  },
  settings: ['IDLE_MS'],
  reply: record({ word: oneOf('lost', 'newer', 'replaced', 'go', 'wait'), generation: number, hasBegun: flag }),
});

export const relayWaitWrite = defineScript({
  file: new URL('./relay-wait-write.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    token: text,
    generation: digits,
    /** What has to be taken for it to go on. */
    wanted: digits,
    /** Its channel. */
    channel: text,
  },
  settings: ['IDLE_MS'],
  reply: record({ taken: maybeNumber, notify: text }),
});

export const relayNote = defineScript({
  file: new URL('./relay-note.lua', import.meta.url),
  keys: ['state', 'bytes'],
  args: {
    /** Token of the sender. */
    token: text,
    /** Start of the chunk. */
    start: digits,
    /** End of the chunk. */
    chunkEnd: digits,
    /** Tell a reader whatever it waits for. */
    urgent: flag,
  },
  settings: ['IDLE_MS'],
  reply: record({ taken: maybeNumber, notify: text, waiting: text }),
});

export const relayReserve = defineScript({
  file: new URL('./relay-reserve.lua', import.meta.url),
  keys: ['files', 'kept'],
  args: {
    file: text,
  },
  settings: ['IDLE_MS'],
  reply: record({ isNew: flag }),
});

export const relayRelease = defineScript({
  file: new URL('./relay-release.lua', import.meta.url),
  keys: ['files', 'kept'],
  args: { files: restOfWords },
  reply: nothing,
});

export const relayKeep = defineScript({
  file: new URL('./relay-keep.lua', import.meta.url),
  keys: ['files', 'kept'],
  args: {
    file: text,
    generation: digits,
    /** It gives its place back | '0': with a place it stays where it is. */
    gives: flag,
  },
  settings: ['IDLE_MS'],
  reply: record({ gone: rest(textList) }),
});

export const relayRead = defineScript({
  file: new URL('./relay-read.lua', import.meta.url),
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
     * A place of a reader outlives looks that come late, and its replica not for long. Its longest stall time counts
     * thrice.
     */
    READ_PLACE_MS: 210_000,
  },
  settings: ['IDLE_MS'],
  reply: record({ held: flag, replaced: text }),
});

export const relayUnread = defineScript({
  file: new URL('./relay-unread.lua', import.meta.url),
  keys: ['reads'],
  args: {
    file: text,
    token: text,
  },
  reply: nothing,
});

export const relayReaders = defineScript({
  file: new URL('./relay-readers.lua', import.meta.url),
  keys: ['reads'],
  args: {
    /** How the names begin. */
    prefix: text,
  },
  reply: record({ readers: rest(rows({ file: text, channel: text })) }),
});
