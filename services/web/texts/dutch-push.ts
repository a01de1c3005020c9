import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('nl');

/** What is said in notifications, which the service worker shows. */
export const dutchPush: Texts['push'] = {
  message: (count) => plural(count, { one: 'Een nieuw bericht', other: `${count} nieuwe berichten` }),
  transfer: (count) =>
    plural(count, { one: 'Iemand wil je een bestand sturen', other: `${count} overdrachten wachten op je` }),
  arrived: (count) =>
    plural(count, { one: 'Er is een bestand aangekomen', other: `Er zijn ${count} bestanden aangekomen` }),
  device: 'Er is een nieuw apparaat ingelogd. Was jij dat?',
  test: 'Meldingen werken.',
  unknown: 'Er is iets nieuws in Baton.',
  stray: 'In deze browser is niemand ingelogd. De meldingen ervan staan nu uit.',
};
