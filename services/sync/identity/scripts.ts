import { defineScript } from '../redis/script.ts';
import { digits, nothing, text } from '../../../shared/service-kit/redis/scripts/script-values.ts';

/** How long a replica that cannot ask for the keys believes those that another has fetched. */
export const KEEP_MS = 86_400_000;

export const keySetKeep = defineScript({
  file: new URL('./lua/key-set-keep.lua', import.meta.url),
  keys: ['keySet'],
  args: {
    /** Ms of the store's clock before it was fetched. */
    atMs: digits,
    /** The sealed set. */
    sealed: text,
  },
  constants: { KEEP_MS },
  reply: nothing,
});
