/** The identity of one mutation: made once per request, for the script that answers a client's repetition with the first result. */
export interface Operation {
  /** `Idempotency-Key` when the route honours it and the client sent one, else random. */
  readonly id: string;
  /** True when the client chose the id: then a repetition may come minutes later. */
  readonly keyed: boolean;
  /** SHA-256 of the body, base64url: the same key with another body is refused. Empty where the id is random. */
  readonly fingerprint: string;
}
