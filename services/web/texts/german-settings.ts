import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('de');

/** What is said in the settings. */
export const germanSettings: Pick<Texts, 'settings'> = {
  settings: {
    title: 'Einstellungen',
    thisDevice: 'Dieses Gerät',
    rename: 'Umbenennen',
    notifications: 'Mitteilungen',
    pushOff: 'Melde mir Nachrichten und Dateien, wenn Baton geschlossen oder im Hintergrund ist.',
    pushOn: 'Mitteilungen sind an.',
    pushWaiting: 'Warte auf diesen Browser und seinen Push-Dienst …',
    pushDenied: 'Dieser Browser blockiert Mitteilungen von Baton. Erlaube sie in seinen Einstellungen.',
    pushAsks: 'Mitteilungen sind aus. Dieser Browser muss dich noch einmal fragen, ob Baton sie zeigen darf.',
    pushBroken: 'Mitteilungen kommen nicht mehr an und ließen sich nicht von selbst wieder einschalten.',
    pushUnknown: 'Der Dienst kann gerade nicht gefragt werden, ob Mitteilungen an sind.',
    pushImpossible: 'In diesem Browser oder unter dieser Adresse nicht möglich.',
    pushDisabled: 'Bei diesem Dienst nicht eingerichtet.',
    turnOn: 'Einschalten',
    turnOff: 'Ausschalten',
    test: 'Probe senden',
    tested: 'Eine Probe ist unterwegs.',
    preview: 'In Mitteilungen zeigen',
    previewNone: 'Nur, dass etwas kam',
    previewSender: 'Von wem',
    previewFull: 'Von wem, und den Text',
    language: 'Sprache',
    theme: 'Aussehen',
    themes: { system: 'Wie auf diesem Gerät', light: 'Hell', dark: 'Dunkel' },
    sessions: 'Angemeldete Geräte',
    stale: 'Der Anmeldedienst ist gerade nicht erreichbar; dies kann veraltet sein.',
    active: (when) => `Aktiv ${when}`,
    current: 'Dieses Gerät',
    remove: 'Abmelden',
    removeTitle: (name) => `${name} abmelden?`,
    removeWhy: 'Es verliert sofort den Zugang. Was auf das Gerät wartet, wird gelöscht.',
    others: 'Alle anderen abmelden',
    othersTitle: 'Alle anderen Geräte abmelden?',
    othersWhy: 'Jedes Gerät außer diesem verliert sofort den Zugang.',
    othersDone: (count) =>
      plural(count, { one: '1 Gerät wurde abgemeldet.', other: `${count} Geräte wurden abgemeldet.` }),
    signOut: 'Abmelden',
    signOutTitle: 'Hier abmelden?',
    signOutWhy: (waiting) =>
      `Der Verlauf und nicht gespeicherte Dateien werden in diesem Browser gelöscht.${
        waiting === 0
          ? ''
          : ` ${plural(waiting, { one: '1 Eintrag wartet noch und wird', other: `${waiting} Einträge warten noch und werden` })} nicht gesendet.`
      }`,
    erase: 'Meine Daten löschen',
    eraseTitle: 'Alles löschen?',
    eraseWhy:
      'Wartende Nachrichten, Zwischenablage, Übertragungen und Geräte werden beim Dienst entfernt. Das ist endgültig.',
    erased: 'Alles wurde entfernt.',
    account: 'Konto',
    signedInAs: (name) => `Angemeldet als ${name}`,
    about: 'Für Programme',
    insecure:
      'Diese Adresse ist nicht https. Nachrichten und die Zwischenablage gehen; Dateien können nicht empfangen werden, und es gibt keine Mitteilungen.',
    api: 'API-Referenz',
  },
};
