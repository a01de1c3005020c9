import { keysOf } from '../../../shared/client/sealed.ts';
import type { History } from '../history/history.ts';
import type { Waiting } from '../outbox/queue.ts';
import type { OwnRing } from './own-ring.ts';

/** A sealed text as it is stored before it is sent, so that each attempt sends the same. */
type Envelope = NonNullable<Waiting['envelope']>;

type Settings = Pick<History, 'settings'>;

/** The devices to which the user has allowed messages and files that are not encrypted. */
const OPEN_TO = 'open-to';

export const isOpenTo = async (history: Settings, deviceId: string): Promise<boolean> =>
  (await history.settings.get<string[]>(OPEN_TO, [])).includes(deviceId);

/** Seals messages of the outbox. */
export const makeSendingTexts = ({ history }: { history: Settings }, ring: Pick<OwnRing, 'current' | 'sealing'>) => ({
  /** Seals a message for its receiver, the same way for each attempt. Null: the user wants it to go unencrypted. */
  async seal({ id, to, envelope }: Waiting, text: string): Promise<Envelope | null> {
    const keyring = await ring.current();
    const { epoch } = keyring.ring.body;
    const enc = keysOf(keyring, to, Date.now())?.enc;
    if (enc === undefined && (await isOpenTo(history, to))) return null;
    // A guest gets other keys, or is removed, without another key of the account. Earlier versions have not noted its key.
    if (envelope?.epoch === epoch && enc !== undefined && (envelope.enc ?? enc) === enc) return envelope;
    // The text keeps its id, so that a receiver shows it once although both envelopes may arrive.
    return { epoch, enc, sealed: await ring.sealing().texts.seal(keyring, { id, to, text }) };
  },

  post: (to: string, { sealed }: Envelope, settings: { idempotencyKey: string; retries: number }) =>
    ring.sealing().texts.post(to, sealed, settings),

  /** Lets messages and files go to this device unencrypted from now on, because the user has said so. */
  async allowOpen(to: string): Promise<void> {
    const all = await history.settings.get<string[]>(OPEN_TO, []);
    await history.settings.set(OPEN_TO, [...all.filter((id) => id !== to), to]);
  },
});
