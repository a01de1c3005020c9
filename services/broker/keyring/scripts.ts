import { defineScript } from '../../../shared/service-kit/redis/scripts/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const keysAdd = defineScript({
  file: new URL('./lua/keys-add.lua', import.meta.url),
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

export const keysSeal = defineScript({
  file: new URL('./lua/keys-seal.lua', import.meta.url),
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
