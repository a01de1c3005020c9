import { pushJobs, pushSchedule } from '../push/push-queue.ts';
import { defineScript } from '../redis/script.ts';
import {
  digits,
  flag,
  json,
  lines,
  maybeDigits,
  nothing,
  number,
  oneOf,
  randomBits,
  record,
  resentAfter,
  rest,
  rows,
  text,
  textList,
  wordSet,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

/** A transfer as JSON without its end; its files, '' for a long list; its state in the relay (`relay_words`). */
const stored = { openJson: text, files: text, relay: text };

interface FileEntry {
  name: string;
  size: number;
}

export const transferInit = defineScript({
  file: new URL('./lua/transfer-init.lua', import.meta.url),
  keys: [
    'devices',
    'routes',
    'log',
    'offers',
    'record',
    'due',
    'operation',
    'rate',
    'push',
    'transfers',
    'files',
    'sealed',
    'accountRate',
  ],
  args: {
    /** Device of the sender. */
    sender: text,
    /** Target: `=<device id>` or `~<name>`. */
    target: text,
    transferId: text,
    /** Files as a JSON array: all when there are up to 16, else those that are kept after the end. */
    files: text,
    /** Number of files. */
    count: digits,
    /** Bytes of all. */
    bytes: digits,
    /** Sealed text of the sender, base64url; '' for none. */
    sealed: text,
    random: randomBits,
    fingerprint: text,
    /** Seconds for which the answer is kept; 0 when it is not. */
    rememberSeconds: digits,
    resentAfterMs: resentAfter,
    pushes: pushSchedule,
    dead: wordSet,
    /** Ms that rows may be older than usual. */
    lateMs: number,
    /** The long list with its ends, '' for a short one. */
    longList: text,
    /** Files that replace `files` when the transfer ends; '' when that stays. */
    brief: text,
    /** Bytes that count towards the limit of the account. */
    quotaBytes: number,
    /** Scope of the sender. */
    scope: oneOf('guest', 'full'),
  },
  settings: ['RATE_LIMIT'],
  reply: record({
    openJson: text,
    receiver: text,
    routes: lines(rows({ channel: text, device: text })),
    jobs: pushJobs,
    evict: textList,
  }),
  announces: true,
  rate: 'transfer',
});

export const transferAct = defineScript({
  file: new URL('./lua/transfer-act.lua', import.meta.url),
  keys: ['routes', 'log', 'offers', 'record', 'due', 'transfers', 'files', 'sealed'],
  args: {
    /** Device that acts; '' to cancel for the account, whatever the state. */
    device: text,
    action: oneOf('accept', 'reject', 'p2p', 'relay', 'complete', 'fail', 'cancel'),
    /** Phase, '' to leave it. */
    phase: text,
    /** Error as JSON, 'null' to leave it. */
    error: text,
    random: randomBits,
  },
  reply: record({ ...stored, refusingState: text, isNew: flag }),
  announces: true,
});

/** The same for actions that end a transfer, after which its bytes can be removed. */
export const transferEnd = { ...transferAct, runsWhenFull: true };

export const transferPhase = defineScript({
  file: new URL('./lua/transfer-phase.lua', import.meta.url),
  keys: ['routes', 'record', 'due', 'files', 'sealed'],
  args: {
    /** Device that reports. */
    device: text,
    /** Phase; '' forwards the pending one. */
    phase: text,
    /** Sent bytes, '' to leave them. */
    sent: maybeDigits,
    /** Received bytes, '' to leave them. */
    received: maybeDigits,
    /** File that the receiver has stored in part or whole, '' for a phase. */
    file: maybeDigits,
    /** Bytes of that file that are stored, '' for a phase. */
    storedBytes: maybeDigits,
  },
  constants: { FORWARD_MS: 1_000 / LIMITS.phasesPerSecond },
  reply: record({ ...stored, refusingState: text, waitMs: number, wrong: text }),
  announces: true,
});

export const transferRead = defineScript({
  file: new URL('./lua/transfer-read.lua', import.meta.url),
  keys: ['record', 'files', 'sealed'],
  args: {
    /** Device that asks. */
    device: text,
  },
  reply: record(stored),
});

export const transferGlance = defineScript({
  file: new URL('./lua/transfer-glance.lua', import.meta.url),
  keys: ['record'],
  args: {
    /** Device that asks. */
    device: text,
    /** State that it must have, '' for any. */
    state: text,
  },
  reply: record(stored),
});

export const transferFile = defineScript({
  file: new URL('./lua/transfer-file.lua', import.meta.url),
  keys: ['record', 'files'],
  args: {
    /** Device that asks. */
    device: text,
    file: digits,
  },
  reply: record({
    role: oneOf('sender', 'receiver'),
    state: text,
    relayInUse: flag,
    begun: text,
    file: json<FileEntry>(),
    files: json<FileEntry[]>(),
  }),
});

export const transferList = defineScript({
  file: new URL('./lua/transfer-list.lua', import.meta.url),
  keys: ['offers'],
  args: {
    device: text,
    /** `<created>-<transfer>` before which to go on, '' for the first page. */
    cursor: text,
    /** Most entries. */
    count: digits,
  },
  reply: record({ transfers: rest(textList) }),
});

export const transferPending = defineScript({
  file: new URL('./lua/transfer-pending.lua', import.meta.url),
  keys: ['offers', 'log'],
  args: {
    device: text,
    /** Position of the stream. */
    position: text,
  },
  settings: ['REDELIVERY_MS'],
  reply: record({ transfers: rest(textList) }),
});

export const transferExpire = defineScript({
  file: new URL('./lua/transfer-expire.lua', import.meta.url),
  keys: ['routes', 'log', 'offers', 'record', 'due', 'transfers', 'files', 'sealed'],
  args: { transferId: text, random: randomBits },
  reply: record({ expired: flag, relay: text, wasLive: flag }),
  announces: true,
  runsWhenFull: true,
});

export const transferEvict = defineScript({
  file: new URL('./lua/transfer-evict.lua', import.meta.url),
  keys: ['offers', 'record', 'due', 'transfers', 'files', 'sealed'],
  args: { transferId: text },
  reply: nothing,
  runsWhenFull: true,
});

export const transferGeneration = defineScript({
  file: new URL('./lua/transfer-generation.lua', import.meta.url),
  keys: ['routes', 'log', 'record'],
  args: {
    file: digits,
    /** Generation that the file has, '' before the first. */
    knownGeneration: maybeDigits,
    /** Generation that the file gets. */
    generation: digits,
    /** Offset at which that generation begins. */
    offset: digits,
    random: randomBits,
    /** Whether the sender gets an event. */
    tells: flag,
  },
  constants: {
    /** How long until the sender gets the same event again. */
    TELL_AGAIN_MS: 30_000,
  },
  reply: record({ generation: number, refusingState: text, isNew: flag }),
  announces: true,
});
