import type { BatonClientError } from './errors/baton-client-error.ts';
import type { StreamedEvent } from './events.ts';
import type { FileSource, OpenSink } from './files/files.ts';
import type { Session, SessionStore } from './session/session.ts';
import type {
  ClipboardChange,
  ClipboardEntry,
  Device,
  DeviceSession,
  Me,
  Invite,
  Message,
  MessageAccepted,
  MessagesDelivered,
  NativePushRequest,
  Persist,
  PresenceEntry,
  PushConfig,
  PushSubscribed,
  PushSubscriptionEntry,
  PushSubscriptionRequest,
  Scope,
  SignalRequest,
  SignInLink,
  SignInRequestView,
  Transfer,
  TransferState,
} from './wire.ts';

/** The settings that every call takes. */
export interface CallSettings {
  /** Ends the call at once; it then rejects with `aborted`, or with `timeout` by the signal of `AbortSignal.timeout`. */
  signal?: AbortSignal | undefined;
  /** Further attempts of the library itself, if a call cannot take effect twice. Default 2; 0: one attempt. */
  retries?: number | undefined;
}

/** A call that can be repeated without taking effect twice. */
export interface OnceSettings extends CallSettings {
  /**
   * 1 to 64 characters of `[A-Za-z0-9._:-]`. The service remembers the key for 10 minutes: until then the same call with the
   * same key gets the first result. Without it the library chooses a new key for each call.
   */
  idempotencyKey?: string | undefined;
}

/** A device name, a device id, or `'*'` for all other devices (messages only). */
export type Target = string | { device_id: string };

/** The options of `makeBatonClient`. */
export interface BatonClientOptions {
  /** The address of the service; `''` in a page that it serves. A function is called before every attempt. */
  baseUrl: string | (() => string);
  /** Where the session is kept. Without it requests carry only `headers` (development, or a page with only a cookie). */
  session?: SessionStore;
  /** Further headers for every request. A function is called before each attempt. */
  headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  /** Replaces the platform's `fetch`. It must honour `signal`, even while the body is read. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** The name of a session without a device in presence. */
  liveName?: string;
  /** Makes digests; default in JavaScript. `sha256` of `@baton/client/node` is several times as fast. */
  sha256?: () => Hash;
  /** Files go from device to device if that is possible: `peerToPeer()` of `@baton/client/peer-to-peer`. */
  peerToPeer?: PeerToPeer;
  /** The event to resume after, as `lastEventId` gave it. */
  lastEventId?: string;
}

/** The result of `peerToPeer` of `@baton/client/peer-to-peer`. */
export interface PeerToPeer {
  /** Used only by the library itself. */
  readonly kind: 'peer-to-peer';
}

/** A digest that is fed piece by piece. */
export interface Hash {
  /** Takes the next bytes. */
  update(bytes: Uint8Array): unknown;
  /** Returns the digest in lower-case hexadecimal. Called once. */
  hex(): string;
}

/** The state of the event stream. `offline`: the client tries again by itself; `superseded`: it waits for `start`. */
export type ConnectionState = 'stopped' | 'connecting' | 'online' | 'offline' | 'superseded' | 'signed-out';

/** `revoked`: by another device, or by the service; `logout`: by this one; `expired`: its time was over. */
export type SignedOutReason = 'revoked' | 'logout' | 'expired';

/** The events that a program can listen to, by name. */
export interface ClientEvents {
  /** The stream's state has changed. */
  state: ConnectionState;
  /** The whole account, at each change. */
  presence: readonly PresenceEntry[];
  /** The devices of the account, at each change. */
  devices: readonly Device[];
  /** Devices have taken messages of this one. */
  delivered: MessagesDelivered;
  /** The clipboard has changed; null: it was cleared. Its content is read by `clipboard.get`. */
  clipboard: ClipboardChange | null;
  /** Files are offered, or a transfer that this device has accepted waits to be resumed. Emitted once for each. */
  incoming: IncomingTransfer;
  /** A transfer of this device has changed. */
  transfer: Transfer;
  /** The session is over. Emitted once, when everything has stopped and the store is empty. */
  'signed-out': SignedOutReason;
  /** Work in the background failed, or a listener threw. The client continues. */
  problem: BatonClientError;
  /** Every event of the stream as the contract has it, including duplicates. */
  event: StreamedEvent;
}

/** Ends listening. */
export type Off = () => void;

/** One device of one account. Made by `makeBatonClient`. */
export interface BatonClient {
  /** Opens the event stream, and keeps it open. Does nothing when it is open; opens it again after `superseded`. */
  start(): void;
  /**
   * Ends the stream, the transfers that run here, and every timer. It cancels nothing: a transfer can be resumed. The client
   * can be started again.
   */
  close(): Promise<void>;
  readonly state: ConnectionState;
  /** The event to resume after in another process; null before the first event. */
  readonly lastEventId: string | null;
  /** Calls `listener` for each event of that name until the returned function is called. */
  on<N extends keyof ClientEvents>(name: N, listener: (event: ClientEvents[N]) => void): Off;
  /** Calls `listener` for the next event of that name only. */
  once<N extends keyof ClientEvents>(name: N, listener: (event: ClientEvents[N]) => void): Off;
  /** Ends what `on` or `once` began with this `listener`; of several, the first. */
  off<N extends keyof ClientEvents>(name: N, listener: (event: ClientEvents[N]) => void): void;
  /** Resolves when the stream is open; rejects with `signed_out` when there is no session for it. */
  untilOnline(settings?: CallSettings): Promise<void>;

  /** Returns who is signed in, and what the service allows. */
  me(settings?: CallSettings): Promise<Me>;
  /** Returns the session as the store has it; null without one. */
  session(): Promise<Session | null>;
  /** Ends this device's session, here and at the service. */
  signOut(settings?: CallSettings): Promise<void>;
  /** Removes everything that the service keeps of the account; sessions stay. */
  eraseAccountData(settings?: CallSettings): Promise<void>;

  /**
   * Sends a signal to another device, which gets it as the event `signal`. The service keeps it for a minute. Resolves to
   * true when the device is connected. The library itself sends the signals of transfers.
   */
  sendSignal(to: Target, signal: SignalRequest, settings?: CallSettings): Promise<boolean>;

  readonly devices: Devices;
  readonly messages: Messages;
  readonly clipboard: Clipboard;
  readonly transfers: Transfers;
  readonly signIns: SignIns;
  readonly sessions: Sessions;
  readonly push: Push;
}

/** The devices of the account, this one among them. */
export interface Devices {
  /** The devices as last heard; empty before the first answer. */
  readonly known: readonly Device[];
  /** Presence as last heard, with live streams that have no device. */
  readonly presence: readonly PresenceEntry[];
  /** Asks the service again. */
  list(settings?: CallSettings): Promise<Device[]>;
  /** Asks the service again. */
  listPresence(settings?: CallSettings): Promise<PresenceEntry[]>;
  /** Gives the device a new name; its stream stays open. */
  rename(deviceId: string, name: string, settings?: CallSettings): Promise<Device>;
  /** Signs the device out and removes what waits for it. True: everywhere; false: the auth broker learns of it later. */
  remove(deviceId: string, settings?: CallSettings): Promise<boolean>;
}

/** Short texts between devices. */
export interface Messages {
  /**
   * Sends 1 to 4,096 bytes. A call that the library repeats is one message. Messages to one receiver leave one after the
   * other, in the order of the calls: the next one when the one before is answered or has failed.
   */
  send(to: Target, content: string, settings?: OnceSettings): Promise<MessageAccepted>;
  /**
   * Hands each message to `take` once, including those that waited. A message is acknowledged when the promise of `take`
   * resolves. When it rejects, the message stays in the mailbox and is handed out again after the next connection. There is
   * one receiver at a time: a second one replaces the first.
   */
  receive(take: (message: Message) => void | Promise<void>): Off;
  /** Returns the messages that are not acknowledged, oldest first; acknowledges nothing. */
  list(settings?: CallSettings): Promise<Message[]>;
  /** Acknowledges messages, for programs that take them from `list`. */
  acknowledge(messageIds: readonly string[], settings?: CallSettings): Promise<number>;
}

/** The one clipboard of the account. */
export interface Clipboard {
  /** Returns the content; empty text when there is none. */
  get(settings?: CallSettings): Promise<ClipboardEntry>;
  /** Stores plain text, at most 65,536 bytes. */
  set(content: string, settings?: CallSettings & { deviceName?: string }): Promise<ClipboardEntry>;
  /** Empties it on every device. */
  clear(settings?: CallSettings): Promise<void>;
}

/** Lets in devices that ask. A device asks for itself with `requestSignIn`. */
export interface SignIns {
  /** Returns the request of the device. `link`: the text of the QR code, or `{ request_id, approval_code }`. */
  look(link: SignInLink, settings?: CallSettings): Promise<SignInRequestView>;
  /** Lets the device in, with this scope and for this long. */
  approve(link: SignInLink, grant: { scope: Scope; persist: Persist }, settings?: CallSettings): Promise<void>;
  /** Invites a new device. When it asks, this device gets the event `signin:requested`. */
  invite(settings?: CallSettings): Promise<Invite>;
  /** Refuses the device. */
  deny(link: SignInLink, settings?: CallSettings): Promise<void>;
}

/** The sessions of the account. */
export interface Sessions {
  /** `stale`: the auth broker could not be asked. */
  list(settings?: CallSettings): Promise<{ sessions: DeviceSession[]; stale: boolean }>;
  /** Signs out every session but this one; returns how many. */
  removeOthers(settings?: CallSettings): Promise<number>;
}

/** Wakes a device while no stream is open. */
export interface Push {
  /** Returns the keys with which a browser or an app subscribes. */
  config(settings?: CallSettings): Promise<PushConfig>;
  /** Replaces the earlier subscription of this device. */
  subscribe(subscription: PushSubscriptionRequest, settings?: CallSettings): Promise<PushSubscribed>;
  /** The same for an app. */
  registerNative(registration: NativePushRequest, settings?: CallSettings): Promise<PushSubscribed>;
  /** Returns the subscriptions of the account; a guest sees its own. */
  list(settings?: CallSettings): Promise<PushSubscriptionEntry[]>;
  /** Ends pushes to this subscription. */
  remove(subscriptionId: string, settings?: CallSettings): Promise<void>;
  /** Sends a test notification to this device. */
  test(settings?: CallSettings): Promise<void>;
}

/** Files between devices. */
export interface Transfers {
  /**
   * Offers 1 to 1,000 files and sends them. Resolves when the offer is made; `done` of the result reports the end. Sources
   * without a digest are read once before that, if they can be read twice.
   */
  send(to: Exclude<Target, '*'>, files: readonly FileSource[], settings?: SendSettings): Promise<OutgoingTransfer>;
  /** Resumes a transfer that this device offered in another process: the same files, in the same order. */
  resume(transferId: string, files: readonly FileSource[], settings?: SendSettings): Promise<OutgoingTransfer>;
  /** Returns a transfer to this device, to be accepted or resumed. */
  incoming(transferId: string, settings?: CallSettings): Promise<IncomingTransfer>;
  /** Returns the transfer as the service has it now, with all of its files. */
  get(transferId: string, settings?: CallSettings): Promise<Transfer>;
  /** Returns one page, newest first. */
  list(
    page?: { state?: TransferState; limit?: number; cursor?: string },
    settings?: CallSettings,
  ): Promise<{ transfers: Transfer[]; next_cursor: string | null }>;
  /** Ends a transfer of this device that does not run here. */
  cancel(transferId: string, reason?: string, settings?: CallSettings): Promise<Transfer>;
}

/** How files are sent. */
export interface SendSettings extends OnceSettings {
  /** Passed to the receiver unchanged: base64url without padding, at most 512 KB once it is decoded. */
  sealed?: string;
  /**
   * How long to wait for an absent receiver, until `peer_offline`; default 60,000. Ten times as long for one that has seen
   * the offer and left. `null`: the service keeps what fits.
   */
  offlineMs?: number | null;
  /** False: the library reads nothing before the offer, and the receiver has no digest to compare. Default true. */
  digest?: boolean;
  /** How many files are sent at a time; default 4, at most 8. */
  concurrency?: number;
  /** False: only through the relay, even if the client has `peerToPeer`. */
  direct?: boolean;
  /** Called with the offer, and awaited, before any byte is sent. When it throws, the transfer is cancelled. */
  onOffered?: (transfer: Transfer) => void | Promise<void>;
}

/** How far a transfer is: at most ten times a second, and once at the end. */
export interface Progress {
  /** The bytes that the receiver has stored, or that the service has taken for it. */
  readonly bytes: number;
  readonly totalBytes: number;
  readonly files: number;
  readonly totalFiles: number;
  readonly bytesPerSecond: number;
  /** Null: unknown. */
  readonly secondsLeft: number | null;
  /** The path of the bytes at this moment: from device to device, or through the service. Null before the first byte. */
  readonly path: 'direct' | 'relay' | null;
  readonly isPaused: boolean;
}

/** A transfer that runs here. */
export interface RunningTransfer {
  readonly id: string;
  /** The transfer as last heard. */
  readonly transfer: Transfer;
  readonly progress: Progress;
  /**
   * Resolves with the transfer when the receiver has everything. Rejects with `rejected`, `cancelled`, `failed`,
   * `peer_offline`, `digest_mismatch`, `source_failed`, `sink_failed`, `transfer_gone`, `signed_out`, or `aborted` (its
   * signal, or `close`: then it can be resumed).
   */
  readonly done: Promise<Transfer>;
  /** Reports progress until the returned function is called, or the transfer is over. */
  onProgress(listener: (progress: Progress) => void): Off;
  /** Stops the bytes until `resume`; the other side waits. */
  pause(): void;
  /** Goes on after `pause`. */
  resume(): void;
  /** Ends the transfer for both sides. `reason`: up to 64 printable ASCII characters, which become its error code. */
  cancel(reason?: string): Promise<void>;
}

export interface OutgoingTransfer extends RunningTransfer {
  /** Whether the receiver was connected when it was offered. */
  readonly receiverOnline: boolean;
  /**
   * Resolves when the service or the receiver has every byte. The sender may leave then, if no file is larger than the
   * relay's window. Rejects as `done` does.
   */
  readonly uploaded: Promise<void>;
}

/** How files are received. */
export interface AcceptSettings extends CallSettings {
  /** How many files are received at a time; default and at most 8. */
  concurrency?: number;
  /** False: only through the relay, even if the client has `peerToPeer`. */
  direct?: boolean;
}

/** Files that are offered to this device. */
export interface IncomingTransfer {
  readonly id: string;
  /** The transfer with all of its files. */
  readonly transfer: Transfer;
  /** True: this device has accepted it before. `accept` resumes it. */
  readonly isAccepted: boolean;
  /** Takes the files. `settings.signal` stops the transfer as `close` does: it can be resumed. */
  accept(open: OpenSink, settings?: AcceptSettings): RunningTransfer;
  /** Refuses the files, and tells the sender. */
  reject(settings?: CallSettings): Promise<void>;
}
