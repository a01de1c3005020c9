/** The identity of one change, made once per request. By it a script answers a repetition with the first result. */
export interface Operation {
  /** The `Idempotency-Key` if the route honours it and the client sent one, else a random id. */
  readonly id: string;
  /** True if the client chose the id. A repetition may then come minutes later. */
  readonly keyed: boolean;
  /** SHA-256 of the body, in base64url: the same key with another body is refused. Empty for a random id. */
  readonly fingerprint: string;
}
