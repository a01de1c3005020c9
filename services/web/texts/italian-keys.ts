import type { KeyTexts } from './english-keys.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('it');

export const italianKeys: KeyTexts = {
  title: 'Cifratura',
  off: 'Il servizio può leggere i messaggi, i file e gli appunti di questo account.',
  create: 'Cifra questo account',
  createTitle: 'Cifrare questo account?',
  createWhy: (names) =>
    `Da quel momento solo i dispositivi con una chiave leggono messaggi, file e appunti. ${
      names === '' ? '' : `Questi non hanno chiavi finché non li colleghi: ${names}. `
    }I programmi che chiamano direttamente il servizio inviano senza cifratura.`,
  created: 'Da ora messaggi, file e appunti sono cifrati.',
  noKey: 'Questo account è cifrato, ma questo browser non ha la chiave. Ciò che invia non è cifrato.',
  get: 'Ottieni la chiave',
  how: 'Su un dispositivo con una chiave scegli «Aggiungi un dispositivo» e scansiona questo codice, oppure passa il suo link a «baton approve».',
  noneGiven: 'Il dispositivo che ha approvato non ha dato chiavi. Approva su un dispositivo che ne ha una.',
  lost: 'Le chiavi di questo browser sono andate perse. Ciò che invia aspetta finché non ottieni di nuovo la chiave o continui senza.',
  without: 'Continua senza',
  on: 'Messaggi, file e appunti sono cifrati tra i dispositivi con una chiave.',
  onGuest:
    'Questo browser è un ospite. I messaggi e i file che invia e riceve sono cifrati. Non ha la chiave dell’account, quindi non può usare gli appunti cifrati.',
  guest: 'Ospite: ciò che gli si invia è cifrato solo per lui.',
  trust:
    'È il servizio a fornire questa app, quindi un’app web ti protegge solo nella misura in cui ti fidi del servizio.',
  noKeys:
    'Nessuna chiave. Scegli «Ottieni la chiave» nelle sue impostazioni, oppure accedi di nuovo da lì, e approvalo qui.',
  gone: 'Non è più connesso',
  words: 'Parole di recupero',
  recovery: {
    none: 'Non ci sono parole di recupero. Se tutti i dispositivi con una chiave vanno persi, nessuno può più aprire ciò che hanno cifrato.',
    exist: (when) => `Le parole di recupero esistono da: ${when}.`,
    existUndated: 'Le parole di recupero esistono.',
    due: 'Vanno rinnovate, altrimenti presto non varranno più nulla.',
    make: 'Crea parole di recupero',
    makeNew: 'Crea nuove parole di recupero',
    renew: 'Rinnova le parole di recupero',
    use: 'Usa le parole di recupero',
    what: 'Le parole di recupero sono 24 parole che conservi su carta. Se tutti i dispositivi con una chiave vanno persi, danno la chiave dell’account a un browser che vi è connesso.',
    givesAway:
      'Chi ha le parole può aprire i messaggi e gli appunti registrati da quando le parole esistono. Chi può anche accedere al tuo account legge ciò che leggono i tuoi dispositivi. Conservale dove nessun altro possa trovarle.',
    once: 'Le parole vengono mostrate una volta e non sono salvate da nessuna parte. Valgono solo dopo l’ultimo passo.',
    replaces:
      'Le nuove parole sostituiscono quelle attuali e la chiave dell’account. Quelle attuali poi non valgono più nulla.',
    list: 'Le tue 24 parole di recupero',
    writeDown: 'Scrivile in quest’ordine.',
    copyRisk: 'Altri programmi su questo dispositivo possono leggere ciò che copi: la carta è più sicura.',
    print: 'Stampa',
    written: 'Le ho scritte',
    check: 'Scrivi due delle parole, per verificare che la tua lista sia giusta.',
    word: (n) => `Parola ${n}`,
    wrong: (n) => `La parola ${n} non è giusta. Guarda la tua lista.`,
    showAgain: 'Mostra di nuovo le parole',
    finish: 'Termina',
    made: 'Le parole di recupero valgono da ora.',
    failed: 'Le parole di recupero non valgono ancora.',
    field: 'Le 24 parole',
    typing: 'Scrivi o incolla le parole nel loro ordine. Numeri, spazi e maiuscole non contano.',
    useWhy: 'Con le parole di recupero questo browser riceve la chiave dell’account.',
    renewWhy:
      'I dispositivi con una chiave sono cambiati spesso da quando queste parole esistono. Scrivile, così continuano a valere. Restano le stesse.',
    count: (n) => plural(n, { one: 'C’è 1 parola. Ne servono 24.', other: `Ci sono ${n} parole. Ne servono 24.` }),
    unknown: (n, word) => `La parola ${n}, ${word}, non è una parola di recupero.`,
    checksum: 'Queste parole non vanno insieme. Una è sbagliata, o due sono scambiate.',
    got: 'Questo browser ha la chiave dell’account.',
    renewed: 'Le parole di recupero continuano a valere.',
  },
  replace: 'Sostituisci la chiave',
  replaceTitle: 'Sostituire la chiave dell’account?',
  replaceWhy: 'I dispositivi che non sono più connessi non leggono nulla di ciò che viene inviato da ora in poi.',
  replaced: 'La chiave dell’account è stata sostituita.',
  again: 'Riprova',
  keepsPlace:
    'Un dispositivo che non è più connesso tiene la sua chiave per 90 giorni, nel caso torni. Se l’hai perso, sostituisci la chiave ora.',
  disagreeing:
    'Questi dispositivi conoscono altre chiavi dell’account. Se uno è perso o rubato, disconnettilo. Altrimenti ottieni di nuovo la chiave da un dispositivo di cui ti fidi.',
  writesLost: 'Le chiavi di questo browser sono andate perse. Ciò che scrivi aspetta.',
  makeAnew: 'Crea nuove chiavi',
  makeAnewTitle: 'Creare nuove chiavi per questo account?',
  startAnew: 'Rimuovi tutte le chiavi',
  startAnewTitle: 'Rimuovere tutte le chiavi di questo account?',
  startAnewWhy: (names) =>
    `Questo browser crea una nuova chiave. ${names === '' ? '' : `Questi perdono la loro finché non li colleghi di nuovo: ${names}. `}I messaggi e i file cifrati ancora in attesa non si potranno più aprire.`,
  startAnewLater:
    'Fallo solo se non resta alcun dispositivo con una chiave. Tutti i dispositivi vengono avvisati. Le chiavi saranno rimosse tra 24 ore, a meno che un dispositivo con una chiave non annulli la rimozione. I messaggi e i file cifrati ancora in attesa non si potranno più aprire.',
  announced: (when) =>
    `Tutte le chiavi di questo account saranno rimosse: ${when}. Lo ha chiesto un dispositivo senza chiave.`,
  announcedErase: (when) => `Questo account sarà eliminato: ${when}. Lo ha chiesto un dispositivo senza chiave.`,
  keep: 'Annulla la rimozione',
  kept: 'Non viene rimosso nulla.',
  firstByItself:
    'Così l’account viene cifrato: entrambi i dispositivi hanno allora una chiave, e non ce ne sono altri.',
  protection: {
    title: 'Che cosa è protetto, e che cosa no',
    isProtected: 'Protetto',
    protectedList: [
      'Solo i dispositivi con una chiave leggono messaggi, file e appunti. Nessun altro li legge: né nel database del servizio, nei suoi file e backup, né nella sua memoria e nei suoi registri, né sulla rete.',
      'Nessun altro può scrivere a nome di uno dei tuoi dispositivi. Ciò che non è cifrato è indicato come tale.',
      'Un dispositivo che rimuovi non legge nulla di ciò che viene inviato dopo.',
    ],
    isNot: 'Non protetto',
    notList: [
      'Il servizio vede nomi e tipi dei dispositivi, chi invia a chi e quando, all’incirca quanto è lungo un testo, quanti file sono e quanto sono grandi, e gli indirizzi.',
      'Il servizio può ritardare o perdere ciò che invii.',
      'Chi prende le chiavi di un dispositivo può aprire ciò che è stato registrato da quando quel dispositivo le ha.',
      'Se fai entrare come tuo il dispositivo di qualcun altro, legge ciò che leggono i tuoi. Guarda il nome e l’indirizzo, e confronta le cifre.',
      'Un computer quantistico del futuro potrebbe aprire ciò che viene registrato oggi.',
    ],
    web: 'Il servizio fornisce questa app. Un servizio che mente potrebbe fornirne un’altra, quindi un’app web ti protegge solo nella misura in cui ti fidi del servizio. La riga di comando non ha questo limite.',
  },
  compare: 'Le cifre sono le stesse?',
  compareWhy: (name) => `${name} ha dato a questo browser la chiave dell’account e mostra quattro cifre.`,
  compareWhyGuest: (name) => `${name} ha fatto entrare questo browser come ospite e mostra quattro cifre.`,
  same: (name) => `${name} mostra queste`,
  differ: 'Sono diverse',
  differNew: 'Sono diverse: esci',
  otherDevice: 'L’altro dispositivo',
  sealed: 'Cifrato',
  open: 'Non cifrato: potrebbe averlo scritto il servizio',
  openMine: 'Non cifrato: il servizio può leggerlo',
  openThread: 'Non cifrato',
  sendOpen: 'Invia senza cifratura',
  gives: 'Riceve la chiave di questo account, e può leggere ciò che da ora è cifrato e ciò che ora è in attesa.',
  givesGuest:
    'Non riceve la chiave di questo account. Può leggere solo i messaggi e i file che gli si inviano, cifrati solo per lui. Può leggere gli appunti solo quando non sono cifrati.',
  takesPlace: (name, fingerprint) =>
    `Prende il posto di ${name} (${fingerprint}), le cui chiavi poi non aprono più nulla. Accettalo solo se hai in mano ${name} e richiede di nuovo le sue chiavi.`,
  givesNone: 'Non riceve chiavi: ciò che invia e riceve non è cifrato.',
  checkCode: (code) => `Codice di controllo ${code}. Il nuovo dispositivo mostra le stesse cifre.`,
  failed: 'Le chiavi non sono cambiate.',
  waiting: {
    unkeyed: 'Aspetta che tu confronti le cifre.',
    keys_lost: 'In attesa: le chiavi di questo browser sono andate perse. Le impostazioni dicono che cosa fare.',
    keys_gone: 'In attesa: il servizio non ha più chiavi di questo account.',
    rotation_due: 'Aspetta che la chiave dell’account sia sostituita.',
    ring_moved: 'In attesa: i dispositivi con una chiave stanno cambiando.',
    unknown_key: 'Aspetta la nuova chiave dell’account.',
    devices_disagree:
      'In attesa: i tuoi dispositivi non concordano su chi ha una chiave. Ottieni di nuovo la chiave nelle impostazioni.',
    link_again:
      'In attesa: questo browser è stato assente troppo a lungo. Ottieni di nuovo la chiave nelle impostazioni.',
    bad_ring: 'In attesa: il servizio mostra un elenco di dispositivi che nessuno in questo account ha firmato.',
    bad_guests: 'In attesa: il servizio mostra un elenco di ospiti che nessuno in questo account ha firmato.',
  },
  errors: {
    unkeyed: 'Prima confronta le cifre.',
    keys_lost: 'Le chiavi di questo browser sono andate perse. Ottieni di nuovo la chiave nelle impostazioni.',
    keys_gone: 'Il servizio non ha più chiavi di questo account.',
    keys_exist: 'L’account è già cifrato. Ottieni la chiave da un dispositivo che ce l’ha.',
    keys_unusable: 'Questo browser non può conservare chiavi. Usa un’altra finestra o un altro browser.',
    keys_not_supported: 'Questo servizio non supporta la cifratura.',
    not_lasting: 'Solo un tuo dispositivo che resta connesso può creare chiavi.',
    rotation_due: 'Prima sostituisci la chiave dell’account nelle impostazioni.',
    ring_moved: 'Un altro dispositivo ha cambiato le chiavi nello stesso momento. Riprova.',
    replaces_keys:
      'Questo dispositivo prenderebbe il posto di un altro che ha delle chiavi. Apri di nuovo la richiesta per vedere quale.',
    ring_full: 'L’account ha il massimo di dispositivi con una chiave. Prima disconnettine uno.',
    guest_clipboard: 'Gli ospiti non possono usare gli appunti cifrati.',
    unkeyed_receiver: 'L’altro dispositivo non ha chiavi, quindi il servizio potrebbe leggerlo.',
    other_keys: 'Le chiavi del dispositivo non sono quelle nel suo codice. Non farlo entrare.',
    bad_code: 'Questo codice non è completo. Scansionalo di nuovo.',
    devices_disagree:
      'I tuoi dispositivi non concordano su chi ha una chiave. Ottieni di nuovo la chiave nelle impostazioni.',
    link_again: 'Questo browser è stato assente troppo a lungo. Ottieni di nuovo la chiave nelle impostazioni.',
    unknown_key: 'Questo browser non ha ancora la chiave più recente. Riprova tra un momento.',
    record_damaged:
      'Una parte dei file è stata modificata lungo il percorso o durante l’invio. Non ne resta nulla. Inviali di nuovo.',
    wrong_signer: 'Questi file non vengono dal dispositivo che indicano. Sono stati rifiutati.',
    not_a_member: 'Il dispositivo che ha inviato questi file non appartiene all’account. Sono stati rifiutati.',
    sent_before: 'Qualcuno ha inviato di nuovo questi file lungo il percorso. Sono stati rifiutati.',
    key_retired: 'Questi file sono stati cifrati troppo tempo fa. Fatteli inviare di nuovo.',
    newer_version: 'Questo è stato cifrato da una versione più recente di Baton. Ricarica la pagina.',
    bad_words: 'Queste non sono le parole di recupero di questo account.',
    words_over: 'Queste parole di recupero non sono state rinnovate in tempo. Non aprono più nulla.',
    words_moved: 'Nel frattempo sono state create altre parole di recupero. Quelle mostrate qui non valgono.',
    bad_ring:
      'Il servizio mostra chiavi che nessuno in questo account ha confermato. Non vengono usate e nulla è cambiato.',
    bad_guests:
      'Il servizio mostra un elenco di ospiti che nessuno in questo account ha firmato. Non viene usato e nulla viene inviato.',
  },
};
