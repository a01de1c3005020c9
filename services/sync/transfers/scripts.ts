import { pushJobs, pushSchedule } from '../push/push-queue.ts';
import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

const defineScript = scriptsIn(import.meta.url);

/** A transfer as JSON without its end; its files, '' for a long list; its state in the relay (`relay_words`). */
const stored = { openJson: t.text, files: t.text, relay: t.text };

interface FileEntry {
  name: string;
  size: number;
}

export const transferInit = defineScript('transfer-init', {
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
    sender: t.text,
    /** Target: `=<device id>` or `~<name>`. */
    target: t.text,
    transferId: t.text,
    /** Files as a JSON array: all when there are up to 16, else those that are kept after the end. */
    files: t.text,
    /** Number of files. */
    count: t.digits,
    /** Bytes of all. */
    bytes: t.digits,
    /** Sealed text of the sender, base64url; '' for none. */
    sealed: t.text,
    random: t.randomBits,
    fingerprint: t.text,
    /** Seconds for which the answer is kept; 0 when it is not. */
    rememberSeconds: t.digits,
    resentAfterMs: t.resentAfter,
    pushes: pushSchedule,
    dead: t.wordSet,
    /** Ms that rows may be older than usual. */
    lateMs: t.number,
    /** The long list with its ends, '' for a short one. */
    longList: t.text,
    /** Files that replace `files` when the transfer ends; '' when that stays. */
    brief: t.text,
    /** Bytes that count towards the limit of the account. */
    quotaBytes: t.number,
    /** Scope of the sender. */
    scope: t.oneOf('guest', 'full'),
  },
  reply: t.record({
    openJson: t.text,
    receiver: t.text,
    routes: t.lines(t.rows({ channel: t.text, device: t.text })),
    jobs: pushJobs,
    evict: t.textList,
  }),
  announces: true,
  rate: 'transfer',
});

export const transferAct = defineScript('transfer-act', {
  keys: ['routes', 'log', 'offers', 'record', 'due', 'transfers', 'files', 'sealed'],
  args: {
    /** Device that acts; '' to cancel for the account, whatever the state. */
    device: t.text,
    action: t.oneOf('accept', 'reject', 'p2p', 'relay', 'complete', 'fail', 'cancel'),
    /** Phase, '' to leave it. */
    phase: t.text,
    /** Error as JSON, 'null' to leave it. */
    error: t.text,
    random: t.randomBits,
    resentAfterMs: t.resentAfter,
  },
  reply: t.record({ ...stored, refusingState: t.text, isNew: t.flag }),
  announces: true,
});

/** The same for actions that end a transfer, after which its bytes can be removed. */
export const transferEnd = { ...transferAct, runsWhenFull: true };

export const transferPhase = defineScript('transfer-phase', {
  keys: ['routes', 'record', 'due', 'files', 'sealed'],
  args: {
    /** Device that reports. */
    device: t.text,
    /** Phase; '' forwards the pending one. */
    phase: t.text,
    /** Sent bytes, '' to leave them. */
    sent: t.maybeDigits,
    /** Received bytes, '' to leave them. */
    received: t.maybeDigits,
    /** File that the receiver has stored in part or whole, '' for a phase. */
    file: t.maybeDigits,
    /** Bytes of that file that are stored, '' for a phase. */
    storedBytes: t.maybeDigits,
  },
  constants: { FORWARD_MS: 1_000 / LIMITS.phasesPerSecond },
  reply: t.record({ ...stored, refusingState: t.text, waitMs: t.number, wrong: t.text }),
  announces: true,
});

export const transferRead = defineScript('transfer-read', {
  keys: ['record', 'files', 'sealed'],
  args: {
    /** Device that asks. */
    device: t.text,
  },
  reply: t.record(stored),
});

export const transferGlance = defineScript('transfer-glance', {
  keys: ['record'],
  args: {
    /** Device that asks. */
    device: t.text,
    /** State that it must have, '' for any. */
    state: t.text,
  },
  reply: t.record(stored),
});

export const transferFile = defineScript('transfer-file', {
  keys: ['record', 'files'],
  args: {
    /** Device that asks. */
    device: t.text,
    file: t.digits,
  },
  reply: t.record({
    role: t.oneOf('sender', 'receiver'),
    state: t.text,
    relayInUse: t.flag,
    begun: t.text,
    file: t.json<FileEntry>(),
    files: t.json<FileEntry[]>(),
  }),
});

export const transferList = defineScript('transfer-list', {
  keys: ['offers'],
  args: {
    device: t.text,
    /** `<created>-<transfer>` before which to go on, '' for the first page. */
    cursor: t.text,
    /** Most entries. */
    count: t.digits,
  },
  reply: t.record({ transfers: t.rest(t.textList) }),
});

export const transferPending = defineScript('transfer-pending', {
  keys: ['offers', 'log'],
  args: {
    device: t.text,
    /** Position of the stream. */
    position: t.text,
  },
  settings: ['REDELIVERY_MS'],
  reply: t.record({ transfers: t.rest(t.textList) }),
});

export const transferExpire = defineScript('transfer-expire', {
  keys: ['routes', 'log', 'offers', 'record', 'due', 'transfers', 'files', 'sealed'],
  args: { transferId: t.text, random: t.randomBits },
  reply: t.record({ expired: t.flag, relay: t.text, wasLive: t.flag }),
  announces: true,
  runsWhenFull: true,
});

export const transferEvict = defineScript('transfer-evict', {
  keys: ['offers', 'record', 'due', 'transfers', 'files', 'sealed'],
  args: { transferId: t.text },
  runsWhenFull: true,
});

export const transferGeneration = defineScript('transfer-generation', {
  keys: ['routes', 'log', 'record'],
  args: {
    file: t.digits,
    /** Generation that the file has, '' before the first. */
    knownGeneration: t.maybeDigits,
    /** Generation that the file gets. */
    generation: t.digits,
    /** Offset at which that generation begins. */
    offset: t.digits,
    random: t.randomBits,
    /** Whether the sender gets an event. */
    tells: t.flag,
  },
  constants: {
    /** How long until the sender gets the same event again. */
    TELL_AGAIN_MS: 30_000,
  },
  reply: t.record({ generation: t.number, refusingState: t.text, isNew: t.flag }),
  announces: true,
});
