import type { KeyTexts } from './english-keys.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('de');

export const germanKeys: KeyTexts = {
  title: 'Verschlüsselung',
  off: 'Der Dienst kann die Nachrichten, die Dateien und die Zwischenablage dieses Kontos lesen.',
  create: 'Dieses Konto verschlüsseln',
  createTitle: 'Dieses Konto verschlüsseln?',
  createWhy: (names) =>
    `Danach lesen nur Geräte mit Schlüsseln Nachrichten, Dateien und Zwischenablage. ${
      names === '' ? '' : `Ohne Schlüssel, bis du sie verbindest: ${names}. `
    }Programme, die den Dienst direkt aufrufen, senden unverschlüsselt.`,
  created: 'Nachrichten, Dateien und Zwischenablage sind ab jetzt verschlüsselt.',
  noKey:
    'Dieses Konto ist verschlüsselt, aber dieser Browser hat keinen Schlüssel. Was er sendet, ist unverschlüsselt.',
  get: 'Schlüssel holen',
  how: 'Wähle auf einem Gerät mit Schlüsseln „Gerät hinzufügen“ und scanne diesen Code, oder gib seinen Link an „baton approve“.',
  noneGiven: 'Das Gerät, das zugestimmt hat, hat keine Schlüssel gegeben. Stimme auf einem Gerät mit Schlüsseln zu.',
  lost: 'Die Schlüssel dieses Browsers sind weg. Was er sendet, wartet, bis du den Schlüssel wieder holst oder ohne weitermachst.',
  without: 'Ohne weitermachen',
  on: 'Nachrichten, Dateien und Zwischenablage sind zwischen den Geräten mit Schlüsseln verschlüsselt.',
  onGuest:
    'Dieser Browser ist ein Gast. Nachrichten und Dateien an ihn und von ihm sind verschlüsselt. Er hat keinen Schlüssel des Kontos und kann deshalb die verschlüsselte Zwischenablage nicht benutzen.',
  guest: 'Gast: Was man ihm schickt, ist nur für ihn verschlüsselt.',
  trust: 'Der Dienst liefert diese App. Eine Web-App schützt dich deshalb nur so weit, wie du dem Dienst vertraust.',
  noKeys: 'Kein Schlüssel. Wähle „Schlüssel holen“ in seinen Einstellungen, oder melde es neu an, und stimme hier zu.',
  gone: 'Nicht mehr angemeldet',
  words: 'Wiederherstellungswörter',
  recovery: {
    none: 'Es gibt keine Wiederherstellungswörter. Sind alle Geräte mit Schlüsseln verloren, kann niemand mehr öffnen, was sie verschlüsselt haben.',
    exist: (when) => `Wiederherstellungswörter gibt es seit: ${when}.`,
    existUndated: 'Es gibt Wiederherstellungswörter.',
    due: 'Sie müssen erneuert werden. Sonst sind sie bald nichts mehr wert.',
    make: 'Wiederherstellungswörter erstellen',
    makeNew: 'Neue Wiederherstellungswörter erstellen',
    renew: 'Wiederherstellungswörter erneuern',
    use: 'Wiederherstellungswörter eingeben',
    what: 'Wiederherstellungswörter sind 24 Wörter, die du auf Papier aufbewahrst. Sind alle Geräte mit Schlüsseln verloren, geben sie einem Browser, der im Konto angemeldet ist, den Schlüssel des Kontos.',
    givesAway:
      'Wer die Wörter hat, kann Nachrichten und Zwischenablagen öffnen, die aufgezeichnet wurden, seit es die Wörter gibt. Wer sich außerdem in deinem Konto anmelden kann, liest, was deine Geräte lesen. Bewahre die Wörter auf, wo niemand sonst sie findet.',
    once: 'Die Wörter werden einmal gezeigt und nirgends gespeichert. Sie gelten erst nach dem letzten Schritt.',
    replaces:
      'Neue Wörter ersetzen die bisherigen und den Schlüssel des Kontos. Die bisherigen sind danach nichts mehr wert.',
    list: 'Deine 24 Wiederherstellungswörter',
    writeDown: 'Schreibe sie in dieser Reihenfolge auf.',
    copyRisk: 'Andere Programme auf diesem Gerät können lesen, was du kopierst. Papier ist sicherer.',
    print: 'Drucken',
    written: 'Ich habe sie aufgeschrieben',
    check: 'Gib zwei der Wörter ein, damit sicher ist, dass deine Liste stimmt.',
    word: (n) => `Wort ${n}`,
    wrong: (n) => `Wort ${n} stimmt nicht. Sieh auf deine Liste.`,
    showAgain: 'Wörter noch einmal zeigen',
    finish: 'Abschließen',
    made: 'Die Wiederherstellungswörter gelten ab jetzt.',
    failed: 'Die Wiederherstellungswörter gelten noch nicht.',
    field: 'Die 24 Wörter',
    typing:
      'Tippe die Wörter in ihrer Reihenfolge ein, oder füge sie ein. Nummern, Leerzeichen und Großbuchstaben spielen keine Rolle.',
    useWhy: 'Mit den Wiederherstellungswörtern bekommt dieser Browser den Schlüssel des Kontos.',
    renewWhy:
      'Die Geräte mit Schlüsseln haben sich oft geändert, seit es diese Wörter gibt. Gib die Wörter ein, damit sie weiter gelten. Sie bleiben dieselben.',
    count: (n) =>
      plural(n, { one: 'Das ist 1 Wort. Es müssen 24 sein.', other: `Das sind ${n} Wörter. Es müssen 24 sein.` }),
    unknown: (n, word) => `Wort ${n}, ${word}, ist kein Wiederherstellungswort.`,
    checksum: 'Diese Wörter gehören nicht zusammen. Eines ist falsch, oder zwei sind vertauscht.',
    got: 'Dieser Browser hat den Schlüssel des Kontos.',
    renewed: 'Die Wiederherstellungswörter gelten weiter.',
  },
  replace: 'Schlüssel ersetzen',
  replaceTitle: 'Den Schlüssel des Kontos ersetzen?',
  replaceWhy: 'Geräte, die nicht mehr angemeldet sind, lesen nichts, was ab jetzt gesendet wird.',
  replaced: 'Der Schlüssel des Kontos wurde ersetzt.',
  again: 'Noch einmal versuchen',
  keepsPlace:
    'Ein Gerät, das nicht mehr angemeldet ist, behält seinen Schlüssel 90 Tage, falls es wiederkommt. Ist es verloren, ersetze den Schlüssel jetzt.',
  disagreeing:
    'Diese Geräte kennen andere Schlüssel des Kontos. Ist eines davon verloren oder gestohlen, dann melde es ab. Sonst hole den Schlüssel noch einmal von einem Gerät, dem du vertraust.',
  writesLost: 'Die Schlüssel dieses Browsers sind weg. Was du schreibst, wartet.',
  makeAnew: 'Neue Schlüssel erstellen',
  makeAnewTitle: 'Neue Schlüssel für dieses Konto erstellen?',
  startAnew: 'Alle Schlüssel entfernen',
  startAnewTitle: 'Alle Schlüssel dieses Kontos entfernen?',
  startAnewWhy: (names) =>
    `Dieser Browser erstellt einen neuen Schlüssel. ${
      names === '' ? '' : `Verbinde diese neu, denn sie verlieren ihren: ${names}. `
    }Verschlüsselte Nachrichten und Dateien, die noch warten, kann niemand mehr öffnen.`,
  startAnewLater:
    'Tu das nur, wenn es kein Gerät mit Schlüsseln mehr gibt. Alle Geräte erfahren es. Die Schlüssel werden in 24 Stunden entfernt, wenn kein Gerät mit Schlüsseln das abbricht. Verschlüsselte Nachrichten und Dateien, die noch warten, kann niemand mehr öffnen.',
  announced: (when) =>
    `Alle Schlüssel dieses Kontos werden entfernt: ${when}. Ein Gerät ohne Schlüssel hat das verlangt.`,
  announcedErase: (when) => `Dieses Konto wird gelöscht: ${when}. Ein Gerät ohne Schlüssel hat das verlangt.`,
  keep: 'Entfernen abbrechen',
  kept: 'Nichts wird entfernt.',
  firstByItself: 'Das verschlüsselt das Konto: Beide Geräte haben dann Schlüssel, und ein anderes gibt es nicht.',
  protection: {
    title: 'Was geschützt ist, und was nicht',
    isProtected: 'Geschützt',
    protectedList: [
      'Niemand außer den Geräten mit Schlüsseln liest Nachrichten, Dateien und Zwischenablage: nicht in der Datenbank des Dienstes, ihren Dateien und Sicherungen, nicht in seinem Speicher und seinen Protokollen, nicht im Netz.',
      'Niemand sonst kann im Namen eines deiner Geräte schreiben. Was nicht verschlüsselt ist, ist gekennzeichnet.',
      'Ein Gerät, das du entfernst, liest nichts, was danach gesendet wird.',
    ],
    isNot: 'Nicht geschützt',
    notList: [
      'Der Dienst sieht Namen und Art der Geräte, wer wem wann sendet, ungefähr wie lang ein Text ist, wie viele Dateien es sind und wie groß, und Adressen.',
      'Der Dienst kann aufhalten oder verlieren, was du sendest.',
      'Wer die Schlüssel eines Geräts nimmt, kann öffnen, was aufgezeichnet wurde, seit das Gerät sie hat.',
      'Lässt du ein fremdes Gerät als dein eigenes herein, liest es, was deine lesen. Sieh auf Namen und Adresse, und vergleiche die Ziffern.',
      'Ein Quantenrechner der Zukunft könnte öffnen, was heute aufgezeichnet wird.',
    ],
    web: 'Der Dienst liefert diese App. Ein Dienst, der lügt, könnte eine andere liefern. Eine Web-App schützt dich deshalb nur so weit, wie du dem Dienst vertraust. Für die Kommandozeile gilt das nicht.',
  },
  compare: 'Sind die Ziffern gleich?',
  compareWhy: (name) => `${name} hat diesem Browser den Schlüssel des Kontos gegeben und zeigt vier Ziffern.`,
  compareWhyGuest: (name) => `${name} hat diesen Browser als Gast hereingelassen und zeigt vier Ziffern.`,
  same: (name) => `${name} zeigt diese`,
  differ: 'Sie sind anders',
  differNew: 'Sie sind anders: abmelden',
  otherDevice: 'Das andere Gerät',
  sealed: 'Verschlüsselt',
  open: 'Nicht verschlüsselt: Der Dienst könnte das geschrieben haben',
  openMine: 'Nicht verschlüsselt: Der Dienst kann das lesen',
  openThread: 'Nicht verschlüsselt',
  sendOpen: 'Unverschlüsselt senden',
  gives: 'Es bekommt den Schlüssel dieses Kontos und kann lesen, was ab jetzt verschlüsselt wird und was jetzt wartet.',
  givesGuest:
    'Es bekommt keinen Schlüssel dieses Kontos. Es kann nur die Nachrichten und Dateien lesen, die man ihm schickt, und die sind nur für es verschlüsselt. Die Zwischenablage kann es nur lesen, wenn sie nicht verschlüsselt ist.',
  takesPlace: (name, fingerprint) =>
    `Es tritt an die Stelle von ${name} (${fingerprint}), dessen Schlüssel danach nichts mehr öffnen. Lass es nur herein, wenn du ${name} in der Hand hast und es seine Schlüssel neu anfordert.`,
  givesNone: 'Es bekommt keinen Schlüssel: Was es sendet und bekommt, ist nicht verschlüsselt.',
  checkCode: (code) => `Prüfziffern ${code}. Das neue Gerät zeigt dieselben.`,
  failed: 'Die Schlüssel sind, wie sie waren.',
  waiting: {
    unkeyed: 'Wartet, bis du die Ziffern verglichen hast.',
    keys_lost: 'Wartet: Die Schlüssel dieses Browsers sind weg. Die Einstellungen sagen, was zu tun ist.',
    keys_gone: 'Wartet: Der Dienst hat keine Schlüssel dieses Kontos mehr.',
    rotation_due: 'Wartet, bis der Schlüssel des Kontos ersetzt ist.',
    ring_moved: 'Wartet: Die Geräte mit Schlüsseln ändern sich gerade.',
    unknown_key: 'Wartet auf den neuen Schlüssel des Kontos.',
    devices_disagree:
      'Wartet: Deine Geräte sind sich nicht einig, wer Schlüssel hat. Hole den Schlüssel in den Einstellungen neu.',
    link_again: 'Wartet: Dieser Browser war zu lange weg. Hole den Schlüssel in den Einstellungen neu.',
    bad_ring: 'Wartet: Der Dienst zeigt eine Geräteliste, die niemand in diesem Konto unterschrieben hat.',
    bad_guests: 'Wartet: Der Dienst zeigt eine Gästeliste, die niemand in diesem Konto unterschrieben hat.',
  },
  errors: {
    unkeyed: 'Vergleiche zuerst die Ziffern.',
    keys_lost: 'Die Schlüssel dieses Browsers sind weg. Hole den Schlüssel in den Einstellungen neu.',
    keys_gone: 'Der Dienst hat keine Schlüssel dieses Kontos mehr.',
    keys_exist: 'Das Konto ist schon verschlüsselt. Hole den Schlüssel von einem Gerät, das ihn hat.',
    keys_unusable:
      'Dieser Browser kann keine Schlüssel aufbewahren. Nimm ein anderes Fenster oder einen anderen Browser.',
    keys_not_supported: 'Dieser Dienst unterstützt keine Verschlüsselung.',
    not_lasting: 'Nur dein eigenes Gerät, das angemeldet bleibt, kann Schlüssel erstellen.',
    rotation_due: 'Der Schlüssel des Kontos muss zuerst ersetzt werden. Das geht in den Einstellungen.',
    ring_moved: 'Ein anderes Gerät hat die Schlüssel gleichzeitig geändert. Versuch es noch einmal.',
    replaces_keys:
      'Dieses Gerät würde den Platz eines anderen mit Schlüsseln einnehmen. Öffne die Anfrage noch einmal, um zu sehen, welches es ist.',
    ring_full: 'Das Konto hat so viele Geräte mit Schlüsseln, wie es haben kann. Melde zuerst eines ab.',
    guest_clipboard: 'Gäste können die verschlüsselte Zwischenablage nicht benutzen.',
    unkeyed_receiver: 'Das andere Gerät hat keinen Schlüssel, also könnte der Dienst das lesen.',
    other_keys: 'Die Schlüssel des Geräts sind nicht die in seinem Code. Lass es nicht herein.',
    bad_code: 'Dieser Code ist nicht vollständig. Scanne ihn noch einmal.',
    devices_disagree:
      'Deine Geräte sind sich nicht einig, wer Schlüssel hat. Hole den Schlüssel in den Einstellungen neu.',
    link_again: 'Dieser Browser war zu lange weg. Hole den Schlüssel in den Einstellungen neu.',
    unknown_key: 'Dieser Browser hat den neuesten Schlüssel noch nicht. Versuch es gleich noch einmal.',
    record_damaged:
      'Ein Teil der Dateien wurde unterwegs oder während des Sendens verändert. Nichts davon bleibt. Sende sie noch einmal.',
    wrong_signer: 'Diese Dateien kommen nicht von dem Gerät, das sie nennen. Sie wurden abgelehnt.',
    not_a_member: 'Das Gerät, das diese Dateien gesendet hat, gehört nicht zum Konto. Sie wurden abgelehnt.',
    sent_before: 'Jemand hat diese Dateien unterwegs noch einmal gesendet. Sie wurden abgelehnt.',
    key_retired: 'Diese Dateien wurden vor zu langer Zeit verschlüsselt. Lass sie noch einmal senden.',
    newer_version: 'Eine neuere Version von Baton hat das verschlüsselt. Lade die Seite neu.',
    bad_words: 'Das sind nicht die Wiederherstellungswörter dieses Kontos.',
    words_over: 'Diese Wiederherstellungswörter wurden nicht rechtzeitig erneuert. Sie öffnen nichts mehr.',
    words_moved:
      'Inzwischen wurden andere Wiederherstellungswörter erstellt. Die Wörter, die hier gezeigt wurden, gelten nicht.',
    bad_ring:
      'Der Dienst zeigt Schlüssel, die niemand in diesem Konto bestätigt hat. Sie werden nicht benutzt, und nichts wurde geändert.',
    bad_guests:
      'Der Dienst zeigt eine Gästeliste, die niemand in diesem Konto unterschrieben hat. Sie wird nicht benutzt, und nichts wird gesendet.',
  },
};
