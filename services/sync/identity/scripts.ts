import { defineScript } from '../redis/script.ts';
import { digits, nothing, text } from '../../../shared/service-kit/redis/scripts/script-values.ts';

/** How long a replica that cannot fetch the keys trusts those that another replica fetched. */
export const KEEP_MS = 86_400_000;

export const keySetKeep = defineScript({
  file: new URL('./lua/key-set-keep.lua', import.meta.url),
  keys: ['keySet'],
  args: {
    /** The store's time in ms before the set was fetched. */
    atMs: digits,
    /** The sealed set. */
    sealed: text,
  },
  constants: { KEEP_MS },
  reply: nothing,
});
