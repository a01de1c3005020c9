import { defineScript } from './script.ts';
import { nothing } from './script-values.ts';

export const accountRing = defineScript({
  file: new URL('./account-ring.lua', import.meta.url),
  keys: ['routes', 'log', 'presence'],
  args: {},
  reply: nothing,
  announces: true,
});
