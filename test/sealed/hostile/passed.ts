/** The answer about the rings, as the contract has it. */
export interface KeysBody {
  rings: string[];
  n: number;
  guests: string | null;
  deletions: { of: 'keys' | 'account'; at: number }[];
}

/** Sealed content that a device gave to the server, as the server saw it. */
export interface Posted {
  readonly kind: 'message' | 'clipboard' | 'transfer';
  readonly from: string;
  /** The id of a device, `*`, or `''` for the clipboard. */
  readonly to: string;
  readonly sealed: string;
  /** The text that the server can read; '' if it is sealed. */
  readonly plain: string;
  /** The server's own id. */
  readonly messageId: string;
}

/** The signature of a member under what it asks for. */
export interface Proof {
  readonly asks: 'delete' | 'keep' | 'erase';
  readonly from: string;
  readonly device_id?: string;
  readonly n?: number;
  readonly signature?: string;
}
