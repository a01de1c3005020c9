/**
 * What a run leaves behind: everything that was asked, answered, received and broken. The checker reads this and
 * nothing else, so that a history can be planted in a test. Times are milliseconds of the driver's monotonic clock.
 */

/** `acknowledged`: the answer said so. `refused`: a 4xx, nothing may have happened. `unknown`: no answer, or a 5xx. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

interface Asked {
  /** Unique in the run; the content carries it as `<account>#<number>`. */
  number: number;
  account: string;
  /** Who asked. */
  device: string;
  sentAt: number;
  answeredAt: number;
  outcome: Outcome;
  /** The error's code, or why there was no answer. */
  code: string | null;
}

export interface MessageSent extends Asked {
  kind: 'message';
  /** Sent in a quiet moment, to see whether open streams are alive. */
  isProbe: boolean;
  messageId: string | null;
  /** Devices that took it into their mailbox. */
  receivers: string[];
}

export interface ClipboardSet extends Asked {
  kind: 'clipboard';
}

export interface DeviceRenamed extends Asked {
  kind: 'rename';
  renamed: string;
}

export interface MessagesAcked extends Asked {
  kind: 'ack';
  messageIds: string[];
  /** How many of them the mailbox still held, null without an answer. */
  acked: number | null;
}

export type Operation = MessageSent | ClipboardSet | DeviceRenamed | MessagesAcked;

/** One HTTP connection of a device's stream. */
export interface Connection {
  number: number;
  replica: string;
  startedAt: number;
  /** The position that was asked for. */
  lastEventId: string | null;
  /** `ready` arrived. */
  openAt: number | null;
  closedAt: number | null;
  cause: string | null;
}

interface Received {
  at: number;
  /** Number of the connection on which it came. */
  connection: number;
  id: string | null;
}

/** Who is online in an account, as a device was told. */
export interface Snapshot {
  version: number;
  online: string[];
  offline: string[];
}

/** Only what the checker needs: texts are reduced to the number of the operation, which they carry. */
export type Frame =
  | (Received & { name: 'ready'; resumed: boolean; reason: string | null; server: string; snapshot: Snapshot })
  | (Received & { name: 'presence'; snapshot: Snapshot })
  | (Received & {
      name: 'message';
      messageId: string;
      from: string | null;
      /** The account of the operation; null when the text is none of ours. */
      account: string | null;
      operation: number | null;
      redelivered: boolean;
    })
  | (Received & { name: 'message:delivered'; messageIds: string[]; by: string })
  | (Received & { name: 'clipboard'; source: string | null; account: string | null; operation: number | null })
  | (Received & { name: 'device:renamed'; renamed: string; operation: number | null })
  | (Received & { name: 'device:added'; added: string })
  | (Received & { name: 'ping' | 'clipboard:cleared' | 'degraded' | 'restored' })
  | (Received & { name: 'reconnect'; reason: string })
  | (Received & { name: 'other'; what: string });

export interface DeviceHistory {
  account: string;
  device: string;
  frames: Frame[];
  connections: Connection[];
  /** When the application wanted a stream: from, to (null: until the end). */
  wanted: { from: number; to: number | null }[];
}

/** Acknowledged writes may be gone. */
export interface Loss {
  /** Those since then; all of them when it is null. */
  since: number | null;
  /** Nothing that was sent after it can be among them: whoever lost them was dead. The fault's end when it is not said. */
  until?: number | undefined;
  /** How often: a primary that comes back empty and is replaced then loses them once for itself and once for its heir. */
  times: number;
}

/** The kind of a failover that the store made by itself, on a busy machine. */
export const UNPLANNED = 'unplanned-failover';

export interface Fault {
  kind: string;
  /** What was hit, for people. */
  target: string;
  /** The replica that was hit; null when it was the store, or all of them. */
  replica: string | null;
  /** The accounts with keys that were concerned; null: all. */
  accounts: readonly string[] | null;
  /** The leases of the replicas were among them: what is lost of these hides devices everywhere. Not said: whatever is hidden is excused. */
  holdsLeases?: boolean | undefined;
  startedAt: number;
  /** When the cause was gone. */
  endedAt: number;
  /** From when on the store served again, so that replicas could put right what it lacked; the end when it is not said. */
  servedFrom?: number | undefined;
  loss: Loss | null;
  /** The store's clock was set while it happened: later positions may be lower, beyond a loss. */
  movedClock: boolean;
  /** For a while devices may be shown as offline although their clients think otherwise. */
  hidesDevices: boolean;
  /** What went wrong about the fault itself, like a drain that ended with another code than 0. */
  broken: string | null;
}

/** A quiet moment, in which everything must be right. */
export interface Checkpoint {
  number: number;
  at: number;
  /** Devices that were wanted online and had no open stream in time. */
  notOpen: string[];
  /** What a replica answered when asked who is online. */
  presence: {
    account: string;
    online: string[];
    wanted: string[];
    /** What the store holds, where something was wrong. */
    stored: string | null;
  }[];
  /** Numbers of the probes that were sent. */
  probes: number[];
  /** When the probes had to be there. */
  probesDueAt: number;
}

/** A time in which the driver itself stood still, and wrote down nothing: what happened then has a later time. */
export interface Stall {
  from: number;
  to: number;
}

/** What was asked for, as far as it can be told whether it happened. */
export interface Plan {
  minutes: number;
  /** Faults that the store and the machine can have, as far as they were wanted. */
  kinds: string[];
  /** Only these were wanted. Not said: all. */
  isPart?: boolean;
  /** The kinds that were wanted and that this machine cannot do. */
  skipped?: string[];
}

export interface History {
  plan: Plan | null;
  devices: DeviceHistory[];
  operations: Operation[];
  faults: Fault[];
  checkpoints: Checkpoint[];
  /** Stalls of the driver, in order. */
  stalls: Stall[];
  /** What replicas counted of their repairs, by cause; printed, not judged. */
  repairs?: Record<string, number>;
}

export const emptyHistory = (): History => ({
  plan: null,
  ...{ devices: [], operations: [], faults: [], checkpoints: [], stalls: [] },
});

/** The faults as one account has them: what befell the keys of others is neither a loss nor another clock to it. */
export const faultsOf = ({ faults }: Pick<History, 'faults'>, account: string): Fault[] =>
  faults.map((fault) =>
    fault.accounts === null || fault.accounts.includes(account) ? fault : { ...fault, loss: null, movedClock: false },
  );

/**
 * The end of a loss: what was sent after it was not lost, and what was written after it stands in one log, by one clock.
 */
export const lostUntil = ({ loss, endedAt }: Pick<Fault, 'loss' | 'endedAt'>): number => loss?.until ?? endedAt;

/** The devices of each account. */
export function byAccount({ devices }: History): Map<string, DeviceHistory[]> {
  const accounts = new Map<string, DeviceHistory[]>();
  for (const one of devices) accounts.set(one.account, [...(accounts.get(one.account) ?? []), one]);
  return accounts;
}
