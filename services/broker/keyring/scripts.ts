import { defineScript } from '../../../shared/service-kit/redis/scripts/script.ts';
import { flag, record, text } from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const keysAdd = defineScript({
  file: new URL('./lua/keys-add.lua', import.meta.url),
  keys: ['signingKeys'],
  args: {
    /** Newest key that the caller knows, '' for none. */
    newest: text,
    /** New key. */
    key: text,
    /** What is stored of it. */
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
    /** The stored form, as it was read. */
    before: text,
    /** The same, sealed. */
    stored: text,
  },
  reply: record({ sealed: flag }),
});
