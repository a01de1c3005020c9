/**
 * What replicas tell each other on their channels: a word, then fields, one a line. Scripts write the same words as
 * `BUS.<name>`. Only the last field of all may hold anything but a plain word, and no field a line end.
 */
export const BUS = {
  /** account, id, id before it, event, addressees, ms, data: an entry of the log. */
  event: 'e',
  /** account, id: the log ends here. */
  top: 't',
  /** account, event, addressees, data: for whoever can take it now, without a place in the log. */
  unlogged: 'u',
  /** account, version of the presence, and of an account with few devices its rows and states as JSON. */
  presence: 'p',
  /** account, device, reason, ms, session ('' or that of the sessions without a device). */
  revoked: 'r',
  /** account, device, '1' where its streams end too: a mint ended every secret of its session before. */
  replaced: 'm',
  /** poll, word: a login request has changed. */
  login: 'l',
  /** file: somebody has done what a request of the relay waits for. */
  relay: 'b',
  /** account, stream: a newer stream of its device has its place. */
  superseded: 'x',
  /** number: of the replica itself, to know that it hears. */
  nonce: 'n',
  /** Nothing: what counts is how many hear it. */
  probe: '?',
} as const;

/** A payload for a channel. */
export const payloadOf = (name: keyof typeof BUS, ...fields: (string | number)[]): string =>
  [BUS[name], ...fields].join('\n');
