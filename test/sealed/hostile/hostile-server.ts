import type { DeviceKeys } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { Fetch } from '../../../shared/client/http/request.ts';
import type { TestDevice } from '../../support/device.ts';
import type { KeysBody, Posted, Proof } from './passed.ts';
import type { Relay } from './relay.ts';

/** A server between devices and a real one. While it is hostile it lies, drops, repeats and swaps, by its seed. */
export interface HostileServer {
  isHostile: boolean;
  /** All rings that any device has put, the swallowed ones too. */
  readonly rings: readonly string[];
  readonly posted: readonly Posted[];
  /** The status of the last response to something sealed; 0 for none. */
  readonly lastStatus: number;
  /** The response about the device that asks to be let in. */
  asking: object | null;
  /** The device that the server names as the one that asks; null: the one that does. */
  asksAs: string | null;
  /** The grants of all approvals, oldest first. */
  readonly grants: readonly string[];
  /** The removed device's keys help the server. */
  removedSigner: CryptoKeyPair | null;
  /** The public part of these keys, as a ring has it. */
  removedSig: string;
  /** The device to which the server says that nothing has followed the ring that it has; null: none. */
  keptBehind: string | null;
  /** The keys of all guests that were ever in, with which the server signs too. */
  readonly guestSigners: DeviceKeys[];
  /** All lists of guests that any device has put, the swallowed ones too. */
  readonly lists: readonly string[];
  /** Called with each list that a device puts, before it is there. */
  onList: (deviceId: string, list: string) => void;
  /** The list of guests that the server shows instead of its own; null: its own. */
  shownList: string | null;
  /** It shows no list of guests at all. */
  hidesList: boolean;
  /** The lists that a device was shown last, and has put with success, by the device. */
  readonly listOf: ReadonlyMap<string, string | null>;
  /** All lists that a device was ever shown, or has put with success. */
  readonly listsOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** True: it takes lists of guests, says so, and forgets them. */
  forgetsLists: boolean;
  /** When the sessions of all guests end, as the server tells it; null: as it is. */
  sessionEnd: number | null;
  /** How far the server's clock is from the right time, as its answers tell it. */
  clockMs: number;
  /** The rings that it shows instead of its own, and that it goes on from; null: its own. */
  forgedChain: readonly string[] | null;
  /** True: it says that the account has no keys. */
  hidesKeys: boolean;
  /** The removals that it announces besides the real ones. */
  announces: KeysBody['deletions'];
  /** The removal of keys that it was asked for, and the objections: their proofs, and the number of the ring. */
  readonly proofs: readonly Proof[];
  /** True: it passes no objection on, and says that it did. */
  dropsObjections: boolean;
  /** The transfers, which exist only in this server. */
  readonly relay: Relay;
  fetchFor(device: TestDevice): Fetch;
}
