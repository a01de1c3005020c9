import type { Message } from '../../../shared/client/index.ts';
import { openMessage } from '../../../shared/client/sealed/content/messages.ts';
import { type Keyring, loadKeyring, takeKeys } from '../../../shared/client/sealed/keyring.ts';
import { browserKeys } from '../../../shared/client/sealed/keys/browser-keys.ts';
import type { KeyStore } from '../../../shared/client/sealed/keys/key-store.ts';
import type { KeysAnswer } from '../../../shared/client/sealed/ring/chain.ts';
import { takenId } from '../../../shared/client/sealing/taken.ts';
import { openHistory } from '../history/database.ts';
import { inLock } from '../locks.ts';
import { DATABASES } from '../sealing/databases.ts';
import { messageKey } from '../sealing/opening.ts';
import { keyedAccount, type PushChoice } from './here.ts';
import type { PushPayload } from './notifications.ts';

/** If a push shows nothing for longer than this, the browser shows a notification of its own. */
const WITHIN_MS = 5_000;

/** The most pages of rings that are read for a push. A browser that was away for longer opens the message in the app. */
const MOST_PAGES = 8;

const isCode = (error: unknown, code: string): boolean => (error as { code?: string } | null)?.code === code;

async function ask(path: string, { headers }: PushChoice, signal: AbortSignal): Promise<Response> {
  const answer = await fetch(path, { headers, credentials: 'same-origin', cache: 'no-store', signal });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer;
}

/** Walks to the newest ring. */
async function newer(store: KeyStore, known: Keyring, choice: PushChoice, signal: AbortSignal): Promise<Keyring> {
  let keyring = known;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const response = await ask(`/api/keys?after=${keyring.ring.body.n}`, choice, signal);
    const { rings, n, guests } = (await response.json()) as KeysAnswer;
    const taken = await takeKeys(store, { rings, n, guests }, Date.now());
    keyring = taken.keyring;
    if (!taken.hasMore) return keyring;
  }
  return keyring;
}

/** Opens a message for this device, or for all devices, because the service does not say which. */
async function opened(keyring: Keyring, sealed: string, from: string) {
  try {
    return await openMessage(keyring, { sealed, from, to: keyring.device_id });
  } catch (error) {
    if (!isCode(error, 'cannot_open')) throw error;
    return openMessage(keyring, { sealed, from, to: '*' });
  }
}

/** Tells whether this text came before under another id: somebody on the way repeated it. */
async function isRepeated(account: string, ids: readonly string[], messageId: string): Promise<boolean> {
  const history = await openHistory(account);
  try {
    const marks = await Promise.all(ids.map((id) => history.get('settings', messageKey(id))));
    return (marks as ({ messageId: string } | undefined)[]).some(
      (mark) => mark !== undefined && mark.messageId !== messageId,
    );
  } finally {
    history.close();
  }
}

async function fetchSealed(id: string, choice: PushChoice, signal: AbortSignal): Promise<Message | undefined> {
  const { messages } = (await (await ask('/api/message', choice, signal)).json()) as { messages: Message[] };
  return messages.find(({ message_id, sealed }) => message_id === id && sealed !== undefined);
}

async function previewOf(payload: PushPayload, choice: PushChoice, signal: AbortSignal): Promise<PushPayload> {
  const message = await fetchSealed(payload.id, choice, signal);
  const { sealed, from_device_id: from, from_name: name } = message ?? {};
  if (sealed === undefined || !from) return payload;
  // The lock of the app, which answers the pages that wait for it.
  const lock: KeyStore['lock'] = (work) => inLock(DATABASES.keys, work);
  const store = { ...browserKeys(DATABASES.keys), lock };
  const known = await loadKeyring(store, Date.now());
  const { account, device_id } = known;
  if (account.user_id !== choice.account || device_id !== choice.deviceId) return payload;
  const found = await opened(known, sealed, from).catch(async (error: unknown) => {
    // A guest may have come with no further ring, and is known only once the list was read again.
    if (!isCode(error, 'unknown_key') && !isCode(error, 'not_a_member')) throw error;
    return opened(await newer(store, known, choice, signal), sealed, from);
  });
  // An earlier version has noted only the id.
  const ids = [takenId(found.sender.device_id, found.id), found.id];
  if (await isRepeated(choice.account, ids, payload.id)) return payload;
  return { ...payload, ...(name && { from: name }), ...(choice.preview === 'full' && { text: found.text }) };
}

/**
 * Adds the preview to the push of a sealed message, as the user chose it: this device fetches the message and opens it. The
 * message stays in the mailbox. If it cannot be opened, the notification says only that there is one.
 */
export async function withSealedPreview(payload: PushPayload, choice: PushChoice | undefined): Promise<PushPayload> {
  const { type, id, from } = payload;
  const isAsked = type === 'message' && id !== '' && from === undefined;
  if (!isAsked || choice === undefined || choice.preview === 'none') return payload;
  if ((await keyedAccount()) !== choice.account) return payload;
  const signal = AbortSignal.timeout(WITHIN_MS);
  const late = new Promise<PushPayload>((resolve) => {
    signal.addEventListener('abort', () => resolve(payload), { once: true });
  });
  return Promise.race([previewOf(payload, choice, signal).catch(() => payload), late]);
}
