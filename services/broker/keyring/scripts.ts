import { defineScript } from '../../../shared/service-kit/redis/scripts/script.ts';
import { flag, record, text } from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const keysAdd = defineScript({
  file: new URL('./lua/keys-add.lua', import.meta.url),
  keys: ['signingKeys'],
  args: {
    /** Newest key that the caller knows, '' for none. */
    newest: text,
    /** Id of the new key. */
    key: text,
    /** Stored form of the new key. */
    stored: text,
  },
  reply: record({ added: flag }),
  runsWhenFull: true,
});

export const keysSeal = defineScript({
  file: new URL('./lua/keys-seal.lua', import.meta.url),
  keys: ['signingKeys'],
  args: {
    key: text,
    /** Stored form, as it was read. */
    before: text,
    /** Sealed form. */
    stored: text,
  },
  reply: record({ sealed: flag }),
});
