import type { CallSettings } from '../api.ts';
import type { Keyring } from '../sealed/keyring.ts';
import type { PublicKeys } from '../sealed/keys/device-keys.ts';
import type { LinkKey } from '../sealed/link/link-code.ts';
import type { Persist, Scope, SignInRequestView } from '../wire.ts';

/** A device that is signed in, and waits for keys. */
export interface KeyRequest {
  /** The link for the user who approves the device. */
  readonly link: string;
  readonly expires_at: number;
  /**
   * Waits for the approval. False: the device was let in without keys. Call `makeSealing` again afterwards, because the
   * session is a new one.
   */
  approved(): Promise<boolean>;
}

/** How a device is let in. Default: with full access, for good. */
export interface LetInSettings extends CallSettings {
  readonly scope?: Scope | undefined;
  readonly persist?: Persist | undefined;
  /**
   * The signing key of the device whose place the new one takes, of `linking.replaced`. Give it only after the user has
   * said so: only the service says that a device which asks is one that has lost its keys.
   */
  readonly replaces?: string | undefined;
}

/** A device with keys whose place another one would take. */
export interface Replaced extends PublicKeys {
  readonly device_id: string;
}

/** A device that was let in. */
export interface LetIn {
  /** Four digits, which the device shows too. */
  readonly checkCode: string;
  readonly keyring: Keyring;
  /** Whether it has the key of the account. */
  readonly isMember: boolean;
  /**
   * For a device that is signed in for a limited time: waits until it has its session, as long as its request lasts, and
   * ends its keys with that session. Without this call they end after 62 minutes. Returns the keyring with its new end;
   * null if nothing has changed.
   */
  endsWithSession(settings?: CallSettings): Promise<Keyring | null>;
}

/** Lets devices into the ring, and gets this device into it. */
export interface Linking {
  /**
   * Lets the asking device in with its keys: into the ring with full access for good, and else on the list of guests, who
   * hold no key of the account. Returns the four digits that both devices show. Throws `other_keys` if somebody has
   * replaced the keys of the code. A device that is already signed in keeps its access. Throws `replaces_keys` if it would
   * take the place of a device with other keys than `replaces` names. Nothing takes the place of this device.
   */
  letIn(link: { request_id: string; approval_code: string }, key: LinkKey, settings?: LetInSettings): Promise<LetIn>;
  /**
   * Returns the member or guest whose place the asking device would take: it is said to have lost its keys. Show its name and its
   * fingerprint, because it is out afterwards, and a service may say so of any device. Null: it takes nobody's place.
   */
  replaced(view: Pick<SignInRequestView, 'device_id' | 'keys'>): Promise<Replaced | null>;
  /** Asks for keys, as a device that is signed in. */
  askForKeys(settings?: CallSettings): Promise<KeyRequest>;
  /** Takes devices out of the ring, which replaces the key of the account. A guest has no key, so it stays. */
  remove(deviceIds: readonly string[]): Promise<Keyring>;
}
