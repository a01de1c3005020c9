import type {
  CallSettings,
  IncomingTransfer,
  OnceSettings,
  OutgoingTransfer,
  PeerToPeer,
  SendSettings,
  Transfers,
} from '../api.ts';
import type { BatonClientError } from '../errors/baton-client-error.ts';
import type { FileSource } from '../files/files.ts';
import type { Sender } from '../sealed/content/body.ts';
import type { Keyring } from '../sealed/keyring.ts';
import type { KeyStore } from '../sealed/keys/key-store.ts';
import type { Linking } from './linking-api.ts';
import type { RingChange } from '../sealed/ring/change.ts';
import type { Deletions } from './deletion.ts';
import type { ClipboardEntry, Device, Message, MessageAccepted, MessageTarget } from '../wire.ts';

/**
 * The result of an approval, with the secret of the code that was shown. It is kept until the ring that it names is pinned.
 */
export interface KeptGrant {
  readonly request_id: string;
  readonly sealed: string;
  /** Base64url. */
  readonly secret: string;
}

/** Where a grant is kept between the approval and the ring. */
export interface GrantStore {
  /** Returns the kept grant; null without one. */
  load(): Promise<KeptGrant | null>;
  /** Replaces a kept grant. */
  save(grant: KeptGrant): Promise<void>;
  /** Removes the grant; does nothing if there is none. */
  clear(): Promise<void>;
}

/** The stores of a device that seals. */
export interface SealingStores {
  /** The keys in use. */
  readonly keys: KeyStore;
  /** The keys with which a device asks to be let in. The keys in use stay until it was let in. */
  readonly asking: KeyStore;
  readonly grant: GrantStore;
}

/** The result of a link to the ring. */
export interface Linked {
  readonly keyring: Keyring;
  /** Four digits; the device that let this one in shows the same digits. */
  readonly checkCode: string;
  /** The id of the device that let this one in. */
  readonly approver: string;
}

/** A receiver of a text, and whether the service could read the text. */
export interface SealedTarget extends MessageTarget {
  readonly sealed: boolean;
}

/** The result of a text that a device with keys sent. */
export interface SentText {
  /** One id, or one for each device if not all devices have keys. */
  readonly messageIds: readonly string[];
  readonly to: readonly SealedTarget[];
  /** Devices without keys, and guests whose time is over, which got nothing. */
  readonly unkeyed: readonly Pick<Device, 'device_id' | 'name'>[];
}

/** A text that was opened, its sender's time, and its sender. */
export interface UnsealedText {
  readonly text: string;
  readonly t: number;
  readonly sender: Sender;
}

/** A received text, by what could be done with it. */
export type ReceivedText =
  /** The text was not sealed, so the service could have written it. */
  | { readonly kind: 'plain'; readonly text: string }
  | ({ readonly kind: 'opened' } & UnsealedText)
  /** The text was shown before, and its acknowledgement was lost. */
  | { readonly kind: 'again' }
  /** The text cannot be opened now: leave it where it is. */
  | { readonly kind: 'waits'; readonly problem: BatonClientError }
  /** The text is not genuine, or can never be opened: tell the user. */
  | { readonly kind: 'refused'; readonly problem: BatonClientError };

/**
 * Asks the user whether the device that approved this one shows the same digits. It rejects if it does not, and if nobody
 * can be asked. The approval then stays: the program drops it, or asks again.
 */
export type ConfirmGrant = (found: Pick<Linked, 'checkCode' | 'approver'>) => Promise<void>;

/** The rings of the account, as this device knows and changes them. */
export interface Rings {
  /**
   * Walks to the newest ring. Null: this device has no keys in its account. Throws if it cannot use its keys. It takes a kept
   * approval first, which the option `confirm` of `makeSealing` can prevent.
   */
  current(): Promise<Keyring | null>;
  /**
   * Does as `current` does, even if members name rings that this device does not have. Nothing is sealed by such a keyring:
   * it is for calls that mend that. `disagreeing` of `@baton/client/sealed` says which members they are.
   */
  known(): Promise<Keyring | null>;
  /**
   * Signs and puts the next ring, and again if another device was faster. Returns the ring in force if nothing changes.
   * While members name other rings, it throws `devices_disagree` unless it removes one of them, or gives one new keys.
   * `check` sees the ring before each attempt, and throws if the change is no longer wanted.
   */
  change(wanted: RingChange, check?: (keyring: Keyring) => void): Promise<Keyring>;
  /**
   * Pins the ring that an approval names, and walks to the newest one; if the service does not respond to that, the keyring
   * is that of the named ring. Null if there is none to pin. Throws `bad_grant` if it does not fit. `confirm` runs before
   * any key is kept, to ask the user whether both devices show the same digits. If it rejects, the error is that of
   * `confirm`, and the approval is still kept.
   */
  takeGrant(confirm?: ConfirmGrant): Promise<Linked | null>;
  /** Tells whether the account has rings, with or without this device. */
  isEncrypted(): Promise<boolean>;
  /**
   * Tells whether the newest ring of the service, or its list of guests, names this device, for a device whose storage was
   * cleared. Without keys nothing proves either.
   */
  namesThisDevice(): Promise<boolean>;
  /**
   * Notes a `device:removed` with the reason `removed` or `logout`: nothing is sealed until there is a ring without the
   * device. Fetch the keyring again afterwards.
   */
  noteRemoved(deviceId: string): Promise<void>;
  /**
   * Notes which members the service lists. Returns those to take out of the ring: reported as removed, or not listed for 90
   * days.
   */
  noteListed(keyring: Keyring, devices: readonly Pick<Device, 'device_id'>[]): Promise<string[]>;
  /** Makes the key of the account, with only this device. `anew`: replaces earlier keys that the service has lost. */
  create(options: { kind: string; anew?: boolean }): Promise<Keyring>;
}

/** A text to be sent. */
export interface TextToSend {
  /** The id of a device, or `*` for all others. */
  readonly to: string;
  readonly text: string;
  /**
   * The program's own id of this text, for a program that may seal it again because it does not know whether it arrived. A
   * receiver shows a text with the same id once.
   */
  readonly id?: string | undefined;
  /** The devices of the account, as the service has them now. */
  readonly devices: readonly Device[];
  /** True: a device without keys gets the text too, and the service may read it. */
  readonly plain?: boolean;
}

/** Messages and the clipboard, sealed and opened. */
export interface SealedTexts {
  /**
   * Sends a text to a device, or to all others. A device without keys gets it only with `plain`. Otherwise the call fails
   * with `unkeyed_receiver`, or, for several devices, the result names those without keys. Each call seals again, so a
   * program that may repeat it for the same text gives the text an `id`.
   */
  send(keyring: Keyring, text: TextToSend, settings?: CallSettings): Promise<SentText>;
  /**
   * Seals a text for one device, or with `*` for all that have keys, for a program that stores it before it sends it. Throws
   * `unkeyed_receiver` for a device without keys.
   */
  seal(keyring: Keyring, text: Omit<TextToSend, 'devices' | 'plain'>): Promise<string>;
  /**
   * Opens a result of `seal` without the service, for a text that came another way. `from`: the id of the only device that
   * may have sealed it; default: any device of the account. It does not note the text, so it opens each time.
   */
  unseal(keyring: Keyring, sealed: string, from?: string): Promise<UnsealedText>;
  /** Sends a result of `seal`. A retry with the same text and the same key does not send it twice. */
  post(to: string, sealed: string, settings?: OnceSettings): Promise<MessageAccepted>;
  /** Opens a message, and proves who wrote it. `keyring` null: this device has no keys. */
  open(keyring: Keyring | null, message: Message): Promise<ReceivedText>;
  /** Notes that a text was shown, so that it is not shown again. Call it before the message is acknowledged. */
  shown(keyring: Keyring, message: Message): Promise<void>;
  /** Puts a text into the clipboard of the account, for the devices that have keys. */
  setClipboard(keyring: Keyring, text: string, settings?: CallSettings): Promise<ClipboardEntry>;
  /** Opens the clipboard, and proves who wrote it. */
  openClipboard(keyring: Keyring | null, entry: ClipboardEntry): Promise<ReceivedText>;
}

/** Files to be sealed for one device. */
export interface FilesToSeal {
  /** The id of a device with keys. */
  readonly to: string;
  readonly files: readonly FileSource[];
}

/**
 * The description of files that was sealed for one device. It is text: a program that stores it can send the same offer
 * again, with the same `idempotencyKey`.
 */
export interface SealedOffer {
  readonly to: string;
  /** The description for the receiver, as the service gets it. */
  readonly sealed: string;
  /** The key of the files. Anybody who has it can read them: keep it where the keys of the device are kept. */
  readonly key: string;
}

/** An offered transfer, by what could be done with it. */
export type ReceivedFiles =
  /** The files are not sealed, so the service can read and replace them. */
  | { readonly kind: 'plain'; readonly offer: IncomingTransfer }
  /** `offer` has the names, types, sizes and digests of the sender, and opens what it receives. */
  | { readonly kind: 'opened'; readonly offer: IncomingTransfer; readonly sender: Sender }
  /** The description cannot be opened now: leave the offer where it is. */
  | { readonly kind: 'waits'; readonly problem: BatonClientError }
  /** The description can never be opened here: tell the user, and end the transfer with the reason `cannot_open`. */
  | { readonly kind: 'refused'; readonly problem: BatonClientError };

/** Files, sealed and opened. `transfers` is that of the client. */
export interface SealedFiles {
  /**
   * Throws if files cannot be sealed for this device now: `unkeyed_receiver` if it has no keys, and `rotation_due` while a
   * removed device has the key of the account.
   */
  check(keyring: Keyring, to: string): void;
  /**
   * Seals the names, types, sizes and digests for one device. Throws as `check` does. `digest` false: the files are not read
   * before the offer, and the receiver cannot resume after it was restarted.
   */
  seal(
    keyring: Keyring,
    files: FilesToSeal,
    settings?: { digest?: boolean; signal?: AbortSignal | undefined },
  ): Promise<SealedOffer>;
  /** Offers files and sends them, as `transfers.send` does. The service sees the number of files and their sizes. */
  send(
    transfers: Transfers,
    offer: SealedOffer,
    files: readonly FileSource[],
    settings?: Omit<SendSettings, 'sealed' | 'digest'>,
  ): Promise<OutgoingTransfer>;
  /** Resumes a transfer that this device offered in another process: the same key, and the same files in the same order. */
  resume(
    transfers: Transfers,
    transferId: string,
    sealed: { readonly key: string; readonly files: readonly FileSource[] },
    settings?: Omit<SendSettings, 'sealed' | 'digest'>,
  ): Promise<OutgoingTransfer>;
  /**
   * Opens the description of an offer, and proves who made it. `keyring` null: this device has no keys. Nothing is handed to
   * a sink before its record was opened, and no sink is closed before the last record.
   */
  open(
    transfers: Transfers,
    keyring: Keyring | null,
    offer: IncomingTransfer,
    settings?: CallSettings,
  ): Promise<ReceivedFiles>;
  /**
   * Returns a path from device to device whose signals are sealed if the transfer is sealed. Give it to the client:
   * `makeBatonClient({ peerToPeer: files.sealSignals(peerToPeer()), ... })`.
   */
  sealSignals(peers: PeerToPeer): PeerToPeer;
  /** Ends a transfer that this device cannot open, with the reason `cannot_open` for the sender. */
  refuse(transferId: string, settings?: CallSettings): Promise<void>;
}

/** Recovery words: 24 words that let a device into the ring when no other device is left. */
export interface Recovery {
  /**
   * Makes new words, which replace earlier ones. They are returned once and stored nowhere. Throws `unkeyed` on a device
   * without keys. `chosen`: words that `makeWords` of `@baton/client/sealed` made and the user has confirmed, and the keyring
   * of that moment. Throws `words_moved` if other words were made since.
   */
  makeWords(chosen?: { readonly words: string; readonly seen: Keyring }): Promise<string>;
  /**
   * Tells whether the words should be renewed: the service drops the oldest rings of a long chain, and the words prove
   * nothing once it has dropped the ring that they have signed. True from half of that on.
   */
  areDue(keyring: Keyring): Promise<boolean>;
  /**
   * Signs the ring in force with these words. Recovery begins with that ring afterwards. Throws `unkeyed` on a device without
   * keys, and `bad_words` for words that are not those of the account.
   */
  renewWords(words: string): Promise<Keyring>;
  /**
   * Puts this device into the ring by the words of the account. Throws `bad_words` for other words, `bad_ring` if the
   * service shows rings that these words have not signed, and `words_over` if they were not renewed in time.
   */
  recover(words: string, about: { readonly kind: string }): Promise<Keyring>;
}

/** Sealing for one device. */
export interface Sealing {
  readonly rings: Rings;
  readonly texts: SealedTexts;
  readonly files: SealedFiles;
  readonly linking: Linking;
  readonly recovery: Recovery;
  readonly deletions: Deletions;
}
