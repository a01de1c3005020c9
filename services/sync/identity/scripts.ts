import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

/** How long a replica that cannot fetch the keys trusts those that another replica fetched. */
export const KEEP_MS = 86_400_000;

export const keySetKeep = defineScript('key-set-keep', {
  keys: ['keySet'],
  args: {
    /** The store's time in ms before the set was fetched. */
    atMs: t.digits,
    /** The sealed set. */
    sealed: t.text,
  },
  constants: { KEEP_MS },
});
