import type { KeyTexts } from './english-keys.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('nl');

export const dutchKeys: KeyTexts = {
  title: 'Versleuteling',
  off: 'De dienst kan de berichten, de bestanden en het klembord van dit account lezen.',
  create: 'Dit account versleutelen',
  createTitle: 'Dit account versleutelen?',
  createWhy: (names) =>
    `Vanaf dan lezen alleen apparaten met een sleutel berichten, bestanden en het klembord. ${
      names === '' ? '' : `Deze hebben geen sleutel tot je ze koppelt: ${names}. `
    }Programma’s die de dienst rechtstreeks aanroepen, versturen onversleuteld.`,
  created: 'Berichten, bestanden en klembord zijn vanaf nu versleuteld.',
  noKey: 'Dit account is versleuteld, maar deze browser heeft geen sleutel. Wat hij stuurt, is niet versleuteld.',
  get: 'Sleutel ophalen',
  how: 'Kies op een apparaat met een sleutel “Apparaat toevoegen” en scan deze code, of geef de link ervan aan “baton approve”.',
  noneGiven: 'Het apparaat dat dit goedkeurde, gaf geen sleutel. Keur het goed op een apparaat met een sleutel.',
  lost: 'De sleutels van deze browser zijn weg. Wat hij stuurt, wacht tot je de sleutel weer ophaalt of zonder doorgaat.',
  without: 'Zonder doorgaan',
  on: 'Berichten, bestanden en klembord zijn versleuteld tussen de apparaten met een sleutel.',
  onGuest:
    'Deze browser is een gast. Berichten en bestanden ernaar en ervandaan zijn versleuteld. Hij heeft geen sleutel van het account en kan het versleutelde klembord dus niet gebruiken.',
  guest: 'Gast: wat je naar deze gast stuurt, is alleen voor die gast versleuteld.',
  trust: 'De dienst levert deze app, dus een webapp beschermt je alleen voor zover je de dienst vertrouwt.',
  noKeys:
    'Geen sleutel. Kies “Sleutel ophalen” in de instellingen van dat apparaat, of log er opnieuw in, en keur het hier goed.',
  gone: 'Niet meer ingelogd',
  words: 'Herstelwoorden',
  recovery: {
    none: 'Er zijn geen herstelwoorden. Als alle apparaten met een sleutel kwijt zijn, kan niemand meer openen wat ze hebben versleuteld.',
    exist: (when) => `Er zijn herstelwoorden sinds ${when}.`,
    existUndated: 'Er zijn herstelwoorden.',
    due: 'Ze moeten worden vernieuwd. Anders zijn ze binnenkort niets meer waard.',
    make: 'Herstelwoorden maken',
    makeNew: 'Nieuwe herstelwoorden maken',
    renew: 'Herstelwoorden vernieuwen',
    use: 'Herstelwoorden gebruiken',
    what: 'Herstelwoorden zijn 24 woorden die je op papier bewaart. Als alle apparaten met een sleutel kwijt zijn, geven ze de sleutel van het account aan een browser die erop is ingelogd.',
    givesAway:
      'Wie de woorden heeft, kan berichten en klembordteksten openen die zijn vastgelegd sinds de woorden bestaan. Wie ook op je account kan inloggen, leest wat je apparaten lezen. Bewaar ze waar niemand anders ze vindt.',
    once: 'De woorden worden één keer getoond en nergens opgeslagen. Ze gelden pas na de laatste stap.',
    replaces:
      'Nieuwe woorden vervangen de huidige en de sleutel van het account. De huidige zijn daarna niets meer waard.',
    list: 'Je 24 herstelwoorden',
    writeDown: 'Schrijf ze in deze volgorde op.',
    copyRisk: 'Andere programma’s op dit apparaat kunnen lezen wat je kopieert. Papier is veiliger.',
    print: 'Afdrukken',
    written: 'Ik heb ze opgeschreven',
    check: 'Typ twee van de woorden, om zeker te weten dat je lijst klopt.',
    word: (n) => `Woord ${n}`,
    wrong: (n) => `Woord ${n} klopt niet. Kijk op je lijst.`,
    showAgain: 'Woorden opnieuw tonen',
    finish: 'Afronden',
    made: 'De herstelwoorden gelden vanaf nu.',
    failed: 'De herstelwoorden gelden nog niet.',
    field: 'De 24 woorden',
    typing: 'Typ of plak de woorden in hun volgorde. Nummers, spaties en hoofdletters maken niet uit.',
    useWhy: 'Met de herstelwoorden krijgt deze browser de sleutel van het account.',
    renewWhy:
      'De apparaten met een sleutel zijn vaak veranderd sinds deze woorden bestaan. Typ de woorden, zodat ze blijven gelden. Ze blijven dezelfde.',
    count: (n) =>
      plural(n, {
        one: 'Dit is 1 woord. Het moeten er 24 zijn.',
        other: `Dit zijn ${n} woorden. Het moeten er 24 zijn.`,
      }),
    unknown: (n, word) => `Woord ${n}, ${word}, is geen herstelwoord.`,
    checksum: 'Deze woorden horen niet bij elkaar. Eén is fout, of twee zijn verwisseld.',
    got: 'Deze browser heeft de sleutel van het account.',
    renewed: 'De herstelwoorden blijven gelden.',
  },
  replace: 'Sleutel vervangen',
  replaceTitle: 'De sleutel van het account vervangen?',
  replaceWhy: 'Apparaten die niet meer zijn ingelogd, lezen niets van wat vanaf nu wordt gestuurd.',
  replaced: 'De sleutel van het account is vervangen.',
  again: 'Opnieuw proberen',
  keepsPlace:
    'Een apparaat dat niet meer is ingelogd, houdt zijn sleutel 90 dagen, voor het geval het terugkomt. Ben je het kwijt, vervang de sleutel dan nu.',
  disagreeing:
    'Deze apparaten kennen andere sleutels van het account. Is er een verloren of gestolen, log het dan uit. Haal anders de sleutel opnieuw op bij een apparaat dat je vertrouwt.',
  writesLost: 'De sleutels van deze browser zijn weg. Wat je schrijft, wacht.',
  makeAnew: 'Nieuwe sleutels maken',
  makeAnewTitle: 'Nieuwe sleutels voor dit account maken?',
  startAnew: 'Alle sleutels verwijderen',
  startAnewTitle: 'Alle sleutels van dit account verwijderen?',
  startAnewWhy: (names) =>
    `Deze browser maakt een nieuwe sleutel. ${names === '' ? '' : `Deze verliezen hun sleutel tot je ze opnieuw koppelt: ${names}. `}Versleutelde berichten en bestanden die nog wachten, kunnen niet meer worden geopend.`,
  startAnewLater:
    'Doe dit alleen als er geen apparaat met een sleutel meer is. Alle apparaten krijgen het te horen. De sleutels worden over 24 uur verwijderd, tenzij een apparaat met een sleutel dit annuleert. Versleutelde berichten en bestanden die nog wachten, kunnen niet meer worden geopend.',
  announced: (when) =>
    `Alle sleutels van dit account zullen worden verwijderd: ${when}. Een apparaat zonder sleutel vroeg erom.`,
  announcedErase: (when) => `Dit account zal worden gewist: ${when}. Een apparaat zonder sleutel vroeg erom.`,
  keep: 'Verwijdering annuleren',
  kept: 'Er wordt niets verwijderd.',
  firstByItself: 'Dit versleutelt het account: beide apparaten hebben dan een sleutel, en een ander is er niet.',
  protection: {
    title: 'Wat beschermd is, en wat niet',
    isProtected: 'Beschermd',
    protectedList: [
      'Alleen de apparaten met een sleutel lezen berichten, bestanden en klembord. Niemand anders leest ze: niet in de database van de dienst, zijn bestanden en back-ups, niet in zijn geheugen en logboeken, en niet op het netwerk.',
      'Niemand anders kan uit naam van een van je apparaten schrijven. Wat niet versleuteld is, is gemarkeerd.',
      'Een apparaat dat je verwijdert, leest niets van wat daarna wordt gestuurd.',
    ],
    isNot: 'Niet beschermd',
    notList: [
      'De dienst ziet namen en soorten van apparaten, wie wanneer aan wie stuurt, ongeveer hoe lang een tekst is, hoeveel bestanden het zijn en hoe groot, en adressen.',
      'De dienst kan vertragen of verliezen wat je stuurt.',
      'Wie de sleutels van een apparaat bemachtigt, kan openen wat is vastgelegd sinds dat apparaat ze heeft.',
      'Laat je het apparaat van iemand anders als je eigen apparaat binnen, dan leest het wat de jouwe lezen. Kijk naar de naam en het adres, en vergelijk de cijfers.',
      'Een kwantumcomputer van de toekomst zou kunnen openen wat vandaag wordt vastgelegd.',
    ],
    web: 'De dienst levert deze app. Een dienst die liegt, kan een andere leveren, dus een webapp beschermt je alleen voor zover je de dienst vertrouwt. Voor de opdrachtregel geldt die beperking niet.',
  },
  compare: 'Zijn de cijfers gelijk?',
  compareWhy: (name) => `${name} gaf deze browser de sleutel van het account en toont vier cijfers.`,
  compareWhyGuest: (name) => `${name} liet deze browser als gast binnen en toont vier cijfers.`,
  same: (name) => `${name} toont deze`,
  differ: 'Ze verschillen',
  differNew: 'Ze verschillen: uitloggen',
  otherDevice: 'Het andere apparaat',
  sealed: 'Versleuteld',
  open: 'Niet versleuteld: de dienst kan dit hebben geschreven',
  openMine: 'Niet versleuteld: de dienst kan dit lezen',
  openThread: 'Niet versleuteld',
  sendOpen: 'Onversleuteld versturen',
  gives: 'Het krijgt de sleutel van dit account en kan lezen wat vanaf nu is versleuteld, en wat nu wacht.',
  givesGuest:
    'Het krijgt geen sleutel van dit account. Het kan alleen de berichten en bestanden lezen die ernaar worden gestuurd, en die zijn alleen daarvoor versleuteld. Het klembord kan het alleen lezen als dat niet versleuteld is.',
  takesPlace: (name, fingerprint) =>
    `Het komt in de plaats van ${name} (${fingerprint}), waarvan de sleutels daarna niets meer openen. Laat het alleen toe als je ${name} in handen hebt en het opnieuw om zijn sleutels vraagt.`,
  givesNone: 'Het krijgt geen sleutel: wat het stuurt en krijgt, is niet versleuteld.',
  checkCode: (code) => `Controlecode ${code}. Het nieuwe apparaat toont dezelfde cijfers.`,
  failed: 'De sleutels zijn niet veranderd.',
  waiting: {
    unkeyed: 'Wacht tot je de cijfers hebt vergeleken.',
    keys_lost: 'Wacht: de sleutels van deze browser zijn weg. De instellingen zeggen wat je kunt doen.',
    keys_gone: 'Wacht: de dienst heeft geen sleutels meer van dit account.',
    rotation_due: 'Wacht tot de sleutel van het account is vervangen.',
    ring_moved: 'Wacht: de apparaten met een sleutel veranderen op dit moment.',
    unknown_key: 'Wacht op de nieuwe sleutel van het account.',
    devices_disagree:
      'Wacht: je apparaten zijn het niet eens over wie een sleutel heeft. Haal de sleutel opnieuw op in de instellingen.',
    link_again: 'Wacht: deze browser was te lang weg. Haal de sleutel opnieuw op in de instellingen.',
    bad_ring: 'Wacht: de dienst toont een lijst van apparaten die niemand in dit account heeft ondertekend.',
    bad_guests: 'Wacht: de dienst toont een lijst van gasten die niemand in dit account heeft ondertekend.',
  },
  errors: {
    unkeyed: 'Vergelijk eerst de cijfers.',
    keys_lost: 'De sleutels van deze browser zijn weg. Haal de sleutel opnieuw op in de instellingen.',
    keys_gone: 'De dienst heeft geen sleutels meer van dit account.',
    keys_exist: 'Het account is al versleuteld. Haal de sleutel op bij een apparaat dat hem heeft.',
    keys_unusable: 'Deze browser kan geen sleutels bewaren. Gebruik een ander venster of een andere browser.',
    keys_not_supported: 'Deze dienst ondersteunt geen versleuteling.',
    not_lasting: 'Alleen een eigen apparaat dat ingelogd blijft, kan sleutels maken.',
    rotation_due: 'Vervang eerst de sleutel van het account in de instellingen.',
    ring_moved: 'Een ander apparaat veranderde tegelijkertijd de sleutels. Probeer het opnieuw.',
    replaces_keys:
      'Dit apparaat zou de plaats innemen van een ander apparaat met sleutels. Open het verzoek opnieuw om te zien welk.',
    ring_full: 'Het account heeft het maximale aantal apparaten met een sleutel. Log er eerst een uit.',
    guest_clipboard: 'Gasten kunnen het versleutelde klembord niet gebruiken.',
    unkeyed_receiver: 'Het andere apparaat heeft geen sleutel, dus de dienst zou dit kunnen lezen.',
    other_keys: 'De sleutels van het apparaat zijn niet die in zijn code. Laat het niet binnen.',
    bad_code: 'Deze code is niet volledig. Scan hem opnieuw.',
    devices_disagree:
      'Je apparaten zijn het niet eens over wie een sleutel heeft. Haal de sleutel opnieuw op in de instellingen.',
    link_again: 'Deze browser was te lang weg. Haal de sleutel opnieuw op in de instellingen.',
    unknown_key: 'Deze browser heeft de nieuwste sleutel nog niet. Probeer het zo opnieuw.',
    record_damaged:
      'Een deel van de bestanden is onderweg of tijdens het sturen veranderd. Niets ervan blijft bewaard. Stuur ze opnieuw.',
    wrong_signer: 'Deze bestanden komen niet van het apparaat dat ze noemen. Ze zijn geweigerd.',
    not_a_member: 'Het apparaat dat deze bestanden stuurde, hoort niet bij het account. Ze zijn geweigerd.',
    sent_before: 'Iemand heeft deze bestanden onderweg nog eens verstuurd. Ze zijn geweigerd.',
    key_retired: 'Deze bestanden zijn te lang geleden versleuteld. Laat ze opnieuw sturen.',
    newer_version: 'Een nieuwere versie van Baton heeft dit versleuteld. Laad de pagina opnieuw.',
    bad_words: 'Dit zijn niet de herstelwoorden van dit account.',
    words_over: 'Deze herstelwoorden zijn niet op tijd vernieuwd. Ze openen niets meer.',
    words_moved: 'Intussen zijn andere herstelwoorden gemaakt. De woorden die hier zijn getoond, gelden niet.',
    bad_ring:
      'De dienst toont sleutels die niemand in dit account heeft bevestigd. Ze worden niet gebruikt en er is niets veranderd.',
    bad_guests:
      'De dienst toont een lijst van gasten die niemand in dit account heeft ondertekend. Die wordt niet gebruikt en er wordt niets verstuurd.',
  },
};
