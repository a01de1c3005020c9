import type { Texts } from './english.ts';

export const germanErrors: Texts['errors'] = {
  network: 'Der Dienst ist nicht erreichbar. Prüfe das Netz und versuch es noch einmal.',
  timeout: 'Der Dienst hat zu lange gebraucht. Versuch es noch einmal.',
  store_unavailable: 'Der Dienst ist gestört. Versuch es gleich noch einmal.',
  store_full: 'Der Dienst hat keinen Platz mehr. Lesen und Entfernen geht, bis wieder Platz ist.',
  broker_unavailable: 'Der Anmeldedienst ist gerade nicht erreichbar. Versuch es gleich noch einmal.',
  maybe_sent:
    'Der Dienst hat nicht geantwortet. Das kann angekommen sein; noch einmal gesendet, kommt es vielleicht zweimal an.',
  idempotency_key_reused: 'Die Dateien haben sich geändert, seit sie angeboten wurden. Sende sie neu.',
  draining: 'Der Dienst startet neu. Versuch es gleich noch einmal.',
  rate_limited: 'Zu viele Anfragen. Versuch es gleich noch einmal.',
  guest_forbidden: 'Gäste dürfen das nicht. Benutze eines deiner eigenen Geräte.',
  tier_exceeded: 'Du kannst nicht mehr erlauben, als du selbst darfst. Wähle weniger.',
  name_taken: 'Ein anderes Gerät hat diesen Namen. Wähle einen anderen.',
  invalid_device_name: 'Dieser Name geht nicht. Nimm Buchstaben, Ziffern und Zeichen ohne Akzente.',
  mailbox_full: 'Das Postfach des anderen Geräts ist voll. Es leert sich, wenn das Gerät online ist.',
  message_too_large: 'Die Nachricht ist zu lang. Sende sie als Datei.',
  clipboard_too_large: 'Der Text ist zu lang für die Zwischenablage. Sende ihn einem Gerät als Datei.',
  transfer_limit: 'Zu viele Übertragungen auf einmal. Warte, bis eine vorbei ist.',
  device_limit: 'Das Konto hat zu viele Geräte. Melde in den Einstellungen eines ab.',
  not_found: 'Das gibt es nicht mehr. Lade die Seite neu, um zu sehen, was es gibt.',
  login_expired: 'Der Code ist abgelaufen. Zeige einen neuen.',
  login_consumed: 'Der Code wurde schon benutzt. Zeige einen neuen.',
  not_confirmed:
    'Dieses Gerät wurde hereingelassen, und seitdem hat der Dienst nicht geantwortet. Lade diese Seite innerhalb von zwei Minuten neu.',
  other_service: 'Dieser Link gehört zu einem anderen Dienst. Öffne ihn dort.',
  already_decided: 'Das wurde schon entschieden. Zeige einen neuen Code, um noch einmal zu fragen.',
  access_denied: 'Das andere Gerät hat abgelehnt. Zeige einen neuen Code, um noch einmal zu fragen.',
  cannot_open:
    'Der Empfänger hat keinen Schlüssel für diese verschlüsselten Dateien. Sende sie noch einmal, sobald er einen hat.',
  peer_offline: 'Das andere Gerät war offline. Sende es noch einmal, wenn es zurück ist.',
  digest_mismatch: 'Was ankam, ist nicht, was gesendet wurde. Sende es noch einmal.',
  source_failed: 'Eine Datei konnte nicht gelesen werden: Sie wurde geändert oder verschoben. Wähle sie noch einmal.',
  sink_failed: 'In diesem Browser ist kein Platz dafür. Schaffe Platz und lass es noch einmal senden.',
  files_insecure: 'Dateien können nur über https empfangen werden. Öffne Baton mit seiner https-Adresse.',
  files_blocked:
    'Dieser Browser lässt Baton keine Dateien speichern: ein privates Fenster oder gesperrter Speicher. Nimm ein anderes Fenster oder einen anderen Browser.',
  failed: 'Das andere Gerät konnte die Übertragung nicht beenden. Die Dateien müssen noch einmal gesendet werden.',
  other_sink_failed:
    'Das andere Gerät hat keinen Platz oder kann nicht schreiben. Mach dort Platz und sende die Dateien noch einmal.',
  other_source_failed:
    'Das andere Gerät konnte eine Datei nicht lesen: Sie wurde geändert oder verschoben. Lass sie noch einmal senden.',
  transfer_gone: 'Die Übertragung endete zu früh. Die Dateien müssen noch einmal gesendet werden.',
  interrupted: 'Das Fenster wurde geschlossen, während die Dateien gelesen wurden. Sende sie noch einmal.',
  feature_disabled: 'Das ist hier abgeschaltet. Frage, wer diesen Dienst betreibt.',
  endpoint_not_allowed:
    'Der Push-Dienst dieses Browsers ist hier nicht erlaubt. Nimm für Mitteilungen einen anderen Browser.',
  account_refused:
    'Dieses Konto darf sich hier nicht anmelden. Nimm ein anderes oder frage, wer diesen Dienst betreibt.',
  relay_busy: 'Der Dienst leitet zu viele Dateien auf einmal weiter. Versuch es gleich noch einmal.',
  internal: 'Im Dienst ist ein Fehler aufgetreten. Versuch es gleich noch einmal.',
  cross_site:
    'Von der Adresse aus, unter der diese Seite geöffnet ist, geht das nicht. Öffne Baton unter seiner Hauptadresse.',
  unexpected_answer:
    'Statt des Dienstes hat ein Proxy oder die Anmeldeseite eines Netzes geantwortet. Prüfe das Netz und lade die Seite neu.',
  broker_contract:
    'Der Anmeldedienst hat eine unbrauchbare Antwort gegeben. Versuch es noch einmal, oder frage, wer diesen Dienst betreibt.',
  storage: 'Der Speicher dieses Browsers antwortet nicht. Lade die Seite neu und versuch es noch einmal.',
  storage_full: 'In diesem Browser ist kein Platz mehr dafür. Schaffe Platz und versuch es noch einmal.',
  storage_failed: 'Dieser Browser konnte das nicht abschließen. Versuch es noch einmal.',
  unexpected: 'Baton ist auf einen unbekannten Fehler gestoßen. Lade die Seite neu und versuch es noch einmal.',
};
