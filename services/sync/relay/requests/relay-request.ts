import type { DeviceCaller } from '../../identity/caller.ts';

/** One file of one transfer, as the store of the bytes identifies it. */
export interface FileId {
  readonly transferId: string;
  readonly index: number;
}

/** The same with the account that it belongs to. */
export interface FileRef extends FileId {
  readonly account: string;
}

/** The name of a file on the bus and in the lists of its account. */
export const nameOf = ({ transferId, index }: FileId): string => `${transferId}/${index}`;

/** One request on one replica: the store knows it by its token, others notify it over the channel of its replica. */
export interface Holder {
  readonly token: string;
  readonly channel: string;
}

/** The part of a request that the store needs. */
export interface Claim {
  readonly file: FileId;
  readonly holder: Holder;
}

/** A device and the file of its account that it asks for. */
export interface Asked {
  readonly asker: DeviceCaller;
  readonly file: FileRef;
}

/** The same with a holder, which takes the file from the request before it on its side. */
export interface RelayRequest extends Asked {
  readonly holder: Holder;
}
