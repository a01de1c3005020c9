/**
 * The payloads on the channels of replicas: a word, then fields, one a line. Scripts write the same words as
 * `BUS.<name>`. Only the last field may hold anything but a plain word, and no field may hold a line end.
 */
export const BUS = {
  /** account, id, id before it, event, addressees, ms, data: an entry of the log. */
  event: 'e',
  /** account, id: the log ends here. */
  top: 't',
  /** account, event, addressees, data: for streams that can take it now, without a place in the log. */
  unlogged: 'u',
  /** account, version of the presence, and for an account with few devices its rows and states as JSON. */
  presence: 'p',
  /** account, device, reason, ms, session ('', or that of a session without a device). */
  revoked: 'r',
  /** account, device, '1' when its streams end too: a mint ended every earlier secret of its session. */
  replaced: 'm',
  /** poll, word: a login request has changed. */
  login: 'l',
  /** file: another request has done what a request of the relay waits for. */
  relay: 'b',
  /** account, stream: a newer stream of its device took its place. */
  superseded: 'x',
  /** number: sent by the replica to itself, to know that it hears. */
  nonce: 'n',
  /** No fields: only the number of subscribers that hear it counts. */
  probe: '?',
} as const;

/** Returns a payload for a channel. */
export const payloadOf = (name: keyof typeof BUS, ...fields: (string | number)[]): string =>
  [BUS[name], ...fields].join('\n');
