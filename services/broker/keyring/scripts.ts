import { scriptsIn } from '../../../shared/service-kit/redis/scripts/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

export const keysAdd = defineScript('keys-add', {
  keys: ['signingKeys'],
  args: {
    /** Newest key that the caller knows, '' for none. */
    newest: t.text,
    /** Id of the new key. */
    key: t.text,
    /** Stored form of the new key. */
    stored: t.text,
  },
  reply: t.record({ added: t.flag }),
  runsWhenFull: true,
});

export const keysSeal = defineScript('keys-seal', {
  keys: ['signingKeys'],
  args: {
    key: t.text,
    /** Stored form, as it was read. */
    before: t.text,
    /** Sealed form. */
    stored: t.text,
  },
  reply: t.record({ sealed: t.flag }),
});
