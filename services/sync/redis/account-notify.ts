import { scriptsIn } from './script.ts';

const defineScript = scriptsIn(import.meta.url);

export const accountNotify = defineScript('account-notify', {
  keys: ['routes', 'log', 'presence'],
  announces: true,
});
