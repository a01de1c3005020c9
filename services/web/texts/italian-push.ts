import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('it');

/** What is said in notifications, which the service worker shows. */
export const italianPush: Texts['push'] = {
  message: (count) => plural(count, { one: 'Un nuovo messaggio', other: `${count} nuovi messaggi` }),
  transfer: (count) =>
    plural(count, { one: 'Qualcuno vuole inviarti un file', other: `${count} trasferimenti ti aspettano` }),
  arrived: (count) => plural(count, { one: 'È arrivato un file', other: `Sono arrivati ${count} file` }),
  device: 'Un nuovo dispositivo ha effettuato l’accesso. Sei stato tu?',
  test: 'Le notifiche funzionano.',
  unknown: 'C’è qualcosa di nuovo in Baton.',
  stray: 'In questo browser nessuno ha effettuato l’accesso. Le sue notifiche ora sono disattivate.',
};
