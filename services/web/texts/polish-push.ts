import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('pl');

/** What is said in notifications, which the service worker shows. */
export const polishPush: Texts['push'] = {
  message: (count) =>
    plural(count, {
      one: 'Nowa wiadomość',
      few: `${count} nowe wiadomości`,
      many: `${count} nowych wiadomości`,
      other: `${count} nowej wiadomości`,
    }),
  transfer: (count) =>
    plural(count, {
      one: 'Ktoś chce Ci wysłać plik',
      few: `Czekają na Ciebie ${count} przesyłania`,
      many: `Czeka na Ciebie ${count} przesyłań`,
      other: `Czeka na Ciebie ${count} przesyłania`,
    }),
  arrived: (count) =>
    plural(count, {
      one: 'Przyszedł plik',
      few: `Przyszły ${count} pliki`,
      many: `Przyszło ${count} plików`,
      other: `Przyszło ${count} pliku`,
    }),
  device: 'Zalogowano nowe urządzenie. To Ty?',
  test: 'Powiadomienia działają.',
  unknown: 'W Batonie jest coś nowego.',
  stray: 'W tej przeglądarce nikt nie jest zalogowany. Jej powiadomienia są teraz wyłączone.',
};
