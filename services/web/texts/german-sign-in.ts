import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('de');

/** What is said where a device is let in. */
export const germanSignIn: Pick<Texts, 'qr' | 'join' | 'add' | 'approve'> = {
  qr: {
    title: 'Mit einem angemeldeten Gerät scannen',
    how: 'Wähle dort „Gerät hinzufügen“ und scanne diesen Code, oder öffne ihn mit der Kamera.',
    alt: 'QR-Code der Anmeldung',
    copy: 'Link kopieren',
    left: (seconds) => `Noch ${seconds} s gültig`,
    expired: 'Dieser Code ist abgelaufen.',
    denied: 'Das andere Gerät hat abgelehnt.',
    again: 'Neuer Code',
  },
  join: {
    title: 'Diesem Konto beitreten',
    why: 'Ein angemeldetes Gerät lädt dieses hier ein. Wie sollen deine anderen Geräte es nennen?',
    type: 'Tippe diese Ziffern auf dem anderen Gerät ein',
    typeWhy: 'Es fragt jetzt danach und lässt dieses Gerät herein.',
    used: 'Dieser Code wurde schon benutzt, oder seine Zeit ist vorbei.',
    again: 'Zeige auf dem angemeldeten Gerät einen neuen Code.',
    ended: 'Dieser Code gilt nicht mehr',
    already: (name) => `Dieser Browser ist schon angemeldet, als „${name}“.`,
  },
  add: {
    title: 'Gerät hinzufügen',
    invite: 'Scanne diesen Code mit der Kamera des neuen Geräts.',
    inviteAlt: 'QR-Code der Einladung',
    other: 'Oder umgekehrt',
    how: 'Öffne auf dem neuen Gerät diese Adresse, wähle „Anderes Gerät benutzen“ und scanne den Code, den es zeigt:',
    scan: 'Seinen Code scannen',
    stop: 'Kamera ausschalten',
    looking: 'Richte die Kamera auf den Code.',
    noCamera: 'Die Kamera ist nicht verfügbar. Füge stattdessen den Link ein.',
    link: 'Oder füge den Link seines Codes ein',
    open: 'Weiter',
    guest: 'Gäste lassen kein Gerät herein',
    guestWhy: 'Lass es von einem deiner eigenen Geräte herein.',
    notALink: 'Das ist kein Link einer Anmeldung.',
  },
  approve: {
    digits: 'Sechs Ziffern, die es zeigt',
    wrongDigits: (left) =>
      `Das sind nicht seine Ziffern. Noch ${plural(left, { one: 'ein Versuch', other: `${left} Versuche` })}.`,
    digitsOver: 'Die Ziffern waren dreimal falsch. Das andere Gerät bleibt draußen.',
    title: 'Ein anderes Gerät anmelden?',
    warning: 'Nicht dieses. Wer das andere Gerät hat, liest deine Nachrichten, deine Zwischenablage und deine Dateien.',
    check:
      'Erlaube es nur, wenn du den Code auf einem Gerät vor dir siehst. Jemand hat ihn dir geschickt? Dann lehne ab.',
    name: 'Es nennt sich',
    kind: 'Es ist',
    from: 'Es fragt von',
    when: 'Wann',
    ago: (seconds) => (seconds < 60 ? `vor ${seconds} s` : `vor ${Math.floor(seconds / 60)} min`),
    deny: 'Ablehnen',
    approve: 'Erlauben',
    howLong: 'Wie lange',
    once: 'Nur einmal, für eine Stunde',
    persist: 'Bis es abgemeldet wird',
    what: 'Was es darf',
    guest: 'Nachrichten, Zwischenablage und Dateien',
    full: 'Alles, auch Geräte und Anmeldungen',
    approved: 'Das andere Gerät ist angemeldet.',
    denied: 'Das andere Gerät bleibt draußen.',
    kinds: {
      browser: 'Ein Browser',
      macos: 'Eine App auf macOS',
      windows: 'Eine App auf Windows',
      linux: 'Eine App auf Linux',
      ios: 'Eine App auf iOS',
      shortcut: 'Ein Kurzbefehl',
    },
  },
};
