import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('de');

/** What is said in notifications, which the service worker shows. */
export const germanPush: Texts['push'] = {
  message: (count) => plural(count, { one: 'Eine neue Nachricht', other: `${count} neue Nachrichten` }),
  transfer: (count) =>
    plural(count, { one: 'Jemand möchte dir eine Datei senden', other: `${count} Übertragungen warten auf dich` }),
  arrived: (count) => plural(count, { one: 'Eine Datei ist angekommen', other: `${count} Dateien sind angekommen` }),
  device: 'Ein neues Gerät wurde angemeldet. Warst du das?',
  test: 'Mitteilungen funktionieren.',
  unknown: 'In Baton gibt es etwas Neues.',
  stray: 'In diesem Browser ist niemand angemeldet. Seine Mitteilungen sind jetzt aus.',
};
