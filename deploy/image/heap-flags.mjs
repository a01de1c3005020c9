/** The rest of what the container may take is for buffers, which are outside of the heap. */
const HEAP_SHARE = 0.55;
/** Of one of the two halves of the young generation: in less of it events of a second grow old, and cost a full collection. */
const YOUNG_MB = 16;
/** What lives must have room beside it: in a small container a half is this share of it. */
const YOUNG_SHARE = 1 / 24;

const MB = 1024 * 1024;

/**
 * The flags of V8 for a container of so many bytes (null: nothing limits it, and Node's own are right) that are not among
 * those that were given, as words on the command line or in NODE_OPTIONS.
 */
export function lackingFlags(limit, given) {
  if (limit === null) return [];
  const wanted = {
    'max-old-space-size': Math.floor((limit * HEAP_SHARE) / MB),
    'max-semi-space-size': Math.max(1, Math.min(YOUNG_MB, Math.floor((limit * YOUNG_SHARE) / MB))),
  };
  const isGiven = (name) => given.some((word) => word.replaceAll('_', '-').startsWith(`--${name}`));
  return Object.entries(wanted).flatMap(([name, megabytes]) => (isGiven(name) ? [] : [`--${name}=${megabytes}`]));
}
