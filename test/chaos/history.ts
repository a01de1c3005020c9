/**
 * What a run leaves behind: everything that was asked, answered, received and broken. The checker reads this and
 * nothing else, so that a history can be planted in a test. Times are milliseconds of the driver's monotonic clock.
 */

/**
 * `acknowledged`: the answer said so. `refused`: a 4xx, so nothing may have happened. `unknown`: no answer, or a 5xx.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

interface Asked {
  /** Unique in the run; the content carries it as `<account>#<number>`. */
  number: number;
  account: string;
  /** The device that asked. */
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
  /** The devices that took it into their mailbox. */
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
  /** How many of them the mailbox still held; null without an answer. */
  acked: number | null;
}

export type Operation = MessageSent | ClipboardSet | DeviceRenamed | MessagesAcked;

/** One HTTP connection of a device's stream. */
export interface Connection {
  number: number;
  replica: string;
  startedAt: number;
  /** The position that the request named. */
  lastEventId: string | null;
  /** When `ready` arrived. */
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
      /** The account of the operation; null when the text is not one of this run. */
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

/** Acknowledged writes that may be gone. */
export interface Loss {
  /** The writes since then; null: all of them. */
  since: number | null;
  /**
   * Nothing that was sent after this time can be lost, because the server that lost it was dead. Undefined: the fault's
   * end.
   */
  until?: number | undefined;
  /**
   * How often. A primary that comes back empty and is replaced then loses the writes once itself and once in its
   * successor.
   */
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
  /** The accounts whose keys were concerned; null: all. */
  accounts: readonly string[] | null;
  /**
   * The replicas' leases were among the keys. Their loss hides devices everywhere. Undefined: the fault excuses
   * anything that is hidden.
   */
  holdsLeases?: boolean | undefined;
  startedAt: number;
  /** When the cause was gone. */
  endedAt: number;
  /** When the store served again, so that replicas could repair what it lacked. Undefined: the fault's end. */
  servedFrom?: number | undefined;
  loss: Loss | null;
  /** The store's clock was set during the fault. Later positions may be lower, beyond a loss. */
  movedClock: boolean;
  /** For a while devices may be shown as offline although they have a stream. */
  hidesDevices: boolean;
  /** What went wrong with the fault itself, like a drain that ended with another code than 0. */
  broken: string | null;
}

/** A quiet moment, in which everything must be right. */
export interface Checkpoint {
  number: number;
  at: number;
  /** Devices that were wanted online and had no open stream in time. */
  notOpen: string[];
  /** What a replica answered when asked which devices are online. */
  presence: {
    account: string;
    online: string[];
    wanted: string[];
    /** What the store holds, if something was wrong. */
    stored: string | null;
  }[];
  /** Numbers of the probes that were sent. */
  probes: number[];
  /** When the probes had to have arrived. */
  probesDueAt: number;
}

/**
 * A time in which the driver itself stood still and wrote nothing down. Events of that time are recorded later than
 * they happened.
 */
export interface Stall {
  from: number;
  to: number;
}

/** What the run was asked to do, as far as one can tell afterwards whether it happened. */
export interface Plan {
  minutes: number;
  /** The kinds of faults that were wanted and that the store and the machine can do. */
  kinds: string[];
  /** Only these were wanted. Undefined: all. */
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
  /** What replicas counted of their repairs, by cause. It is printed, not judged. */
  repairs?: Record<string, number>;
}

export const emptyHistory = (): History => ({
  plan: null,
  ...{ devices: [], operations: [], faults: [], checkpoints: [], stalls: [] },
});

/**
 * Returns the faults as one account has them. A loss or another clock that befell only the keys of other accounts
 * counts as none.
 */
export const faultsOf = ({ faults }: Pick<History, 'faults'>, account: string): Fault[] =>
  faults.map((fault) =>
    fault.accounts === null || fault.accounts.includes(account) ? fault : { ...fault, loss: null, movedClock: false },
  );

/**
 * Returns the end of a loss. Operations that were sent after it are not lost, and events that were written after it
 * stand in one log, by one clock.
 */
export const lostUntil = ({ loss, endedAt }: Pick<Fault, 'loss' | 'endedAt'>): number => loss?.until ?? endedAt;

/** The devices of each account. */
export function byAccount({ devices }: History): Map<string, DeviceHistory[]> {
  const accounts = new Map<string, DeviceHistory[]>();
  for (const one of devices) accounts.set(one.account, [...(accounts.get(one.account) ?? []), one]);
  return accounts;
}
