import type { CallSettings, OnceSettings } from '../api.ts';
import type { BatonClientError } from '../errors/baton-client-error.ts';
import type { Sender } from '../sealed/content/body.ts';
import type { Keyring } from '../sealed/keyring.ts';
import type { KeyStore } from '../sealed/keys/key-store.ts';
import type { LinkKey } from '../sealed/link/link-code.ts';
import type { RingChange } from '../sealed/ring/change.ts';
import type { ClipboardEntry, Device, Message, MessageTarget } from '../wire.ts';

/** What an approval brought, with the secret of the code that was shown. It is kept until the ring that it names is pinned. */
export interface KeptGrant {
  readonly request_id: string;
  readonly sealed: string;
  /** Base64url. */
  readonly secret: string;
}

/** Where a grant is kept between the approval and the ring. */
export interface GrantStore {
  /** Null: none is kept. */
  load(): Promise<KeptGrant | null>;
  /** In place of one that is kept. */
  save(grant: KeptGrant): Promise<void>;
  /** Removes it; nothing where there is none. */
  clear(): Promise<void>;
}

/** Where a device keeps what it seals with. */
export interface SealingStores {
  /** The keys in use. */
  readonly keys: KeyStore;
  /** Those that a device asks to be let in with, so that the ones in use stay until it was. */
  readonly asking: KeyStore;
  readonly grant: GrantStore;
}

/** What a link to the ring gave. */
export interface Linked {
  readonly keyring: Keyring;
  /** Four digits; the device that let this one in shows the same. */
  readonly checkCode: string;
  /** The id of the device that let this one in. */
  readonly approver: string;
}

/** Where a text went, and whether the service could read it on the way. */
export interface SealedTarget extends MessageTarget {
  readonly sealed: boolean;
}

/** What became of a text that was sent by a device with keys. */
export interface SentText {
  /** One, or one for each device where not all of them have keys. */
  readonly messageIds: readonly string[];
  readonly to: readonly SealedTarget[];
  /** Devices without keys, to which nothing was sent. */
  readonly unkeyed: readonly Pick<Device, 'device_id' | 'name'>[];
}

/** What a received text turned out to be. */
export type ReceivedText =
  /** The service could have written it. */
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'opened'; readonly text: string; readonly t: number; readonly sender: Sender }
  /** It was shown before, and its acknowledgement was lost. */
  | { readonly kind: 'again' }
  /** It cannot be opened now: leave it where it is. */
  | { readonly kind: 'waits'; readonly problem: BatonClientError }
  /** It is not genuine, or can never be opened: say so. */
  | { readonly kind: 'refused'; readonly problem: BatonClientError };

/** The rings of the account, as this device knows and changes them. */
export interface Rings {
  /** Walks to the newest ring. Null: this device has no keys in its account. Throws where it has some, and cannot go by them. */
  current(): Promise<Keyring | null>;
  /** Signs the next ring, and puts it, as often as another device was faster. Nothing to change: the one in force. */
  change(wanted: RingChange): Promise<Keyring>;
  /** Pins the ring that an approval named. Null where there is none to pin. Throws `bad_grant` where it does not fit. */
  takeGrant(): Promise<Linked | null>;
  /** Whether the account has rings, whoever belongs to them. */
  isEncrypted(): Promise<boolean>;
  /** Makes the key of the account, with this device alone. `anew`: the keys that it had are gone from the service, and are over. */
  create(options: { kind: string; anew?: boolean }): Promise<Keyring>;
}

/** A text to be sent. */
export interface TextToSend {
  /** The id of a device, or `*` for all others. */
  readonly to: string;
  readonly text: string;
  /** Those of the account, as the service has them now. */
  readonly devices: readonly Device[];
  /** A device without keys gets it, and the service may read it. */
  readonly plain?: boolean;
}

/** Messages and the clipboard, sealed and opened. */
export interface SealedTexts {
  /**
   * Sends a text to a device, or to all others. A device without keys gets it only where `plain` says so: else `unkeyed_receiver`,
   * and of several, those are named in the answer.
   */
  send(keyring: Keyring, text: TextToSend, settings?: OnceSettings): Promise<SentText>;
  /** What a message says, and who wrote it. `keyring` null: this device has no keys. */
  open(keyring: Keyring | null, message: Message): Promise<ReceivedText>;
  /** To be called when a text was shown, and before it is acknowledged: it is not shown again. */
  shown(keyring: Keyring, message: Message): Promise<void>;
  /** Puts a text into the clipboard of the account, for the devices that have keys. */
  setClipboard(
    keyring: Keyring,
    entry: { text: string; devices: readonly Device[] },
    settings?: CallSettings,
  ): Promise<ClipboardEntry>;
  /** What is in the clipboard, and who wrote it. */
  openClipboard(keyring: Keyring | null, entry: ClipboardEntry): Promise<ReceivedText>;
}

/** A device that is signed in, and waits for keys. */
export interface KeyRequest {
  /** To be shown to whoever approves it. */
  readonly link: string;
  readonly expiresAt: number;
  /** Waits for the approval. False: it was let in without keys. Make sealing anew after it: the session is another one. */
  approved(): Promise<boolean>;
}

/** Letting devices into the ring, and getting into it. */
export interface Linking {
  /**
   * Puts the device that asks into the ring, and lets it in for good with full access. Gives the four digits that both show. Throws
   * `other_keys` where somebody has put other keys in place of those in the code.
   */
  letIn(
    link: { request_id: string; approval_code: string },
    key: LinkKey,
    settings?: CallSettings,
  ): Promise<{ checkCode: string; keyring: Keyring }>;
  /** Asks, as a device that is signed in, for keys. */
  askForKeys(settings?: CallSettings): Promise<KeyRequest>;
  /** Takes devices out of the ring, which replaces the key of the account. */
  remove(deviceIds: readonly string[]): Promise<Keyring>;
}

/** Sealing for one device. */
export interface Sealing {
  readonly rings: Rings;
  readonly texts: SealedTexts;
  readonly linking: Linking;
}
