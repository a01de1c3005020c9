/** The problems with keys that pass: with the next ring, another link, or a decision of the user. */
const KEY_PROBLEMS = [
  ...['unkeyed', 'keys_lost', 'keys_gone', 'rotation_due', 'ring_moved', 'unknown_key'],
  ...['devices_disagree', 'link_again', 'bad_ring', 'bad_guests'],
];

/** Tells whether nothing was sent because it cannot be encrypted now. It is never sent unencrypted instead. */
export const isKeyProblem = ({ code }: { readonly code: string }): boolean => KEY_PROBLEMS.includes(code);
