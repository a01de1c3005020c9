import { defineScript } from './script.ts';
import { nothing } from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const accountNotify = defineScript({
  file: new URL('./lua/account-notify.lua', import.meta.url),
  keys: ['routes', 'log', 'presence'],
  args: {},
  reply: nothing,
  announces: true,
});
