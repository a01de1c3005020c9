import type { Message } from '../../../shared/client/index.ts';
import type { Keyring } from '../../../shared/client/sealed.ts';
import type { ReceivedText, SealedTexts } from '../../../shared/client/sealing.ts';
import { type History, isSealed, makeTurns } from '../history/history.ts';
import type { Opening } from './opening.ts';

/** A received text, and the ring that was used to open it. */
export interface Opened {
  readonly received: ReceivedText;
  readonly keyring: Keyring;
}

interface Receiving {
  history: Pick<History, 'receive' | 'receiveRefused' | 'messages'>;
  opening: Pick<Opening, 'inOneStep'>;
  /** Opens with the ring in force. */
  opened: (open: (keyring: Keyring) => Promise<ReceivedText>) => Promise<Opened>;
  texts: () => Pick<SealedTexts, 'open' | 'shown'>;
  isKeyed: () => boolean;
  acknowledge: (ids: string[]) => Promise<unknown>;
}

/** Opens messages of the mailbox. */
export function makeReceiving({ history, opening, opened, texts, isKeyed, acknowledge }: Receiving) {
  const inTurn = makeTurns();

  async function receiveNext(message: Message): Promise<boolean> {
    const found = await opened((keyring) => texts().open(keyring, message)).catch(() => null);
    if (found === null || found.received.kind === 'waits') return history.receive(message);
    const { received, keyring } = found;
    if (received.kind === 'refused') await history.receiveRefused(message);
    if (received.kind === 'opened') {
      // Under the same ring: to fetch it again could fail, or bring another one.
      await opening.inOneStep({ message, text: received.text }, () => texts().shown(keyring, message));
    }
    return true;
  }

  /**
   * Takes a sealed message. False: it stays in the mailbox, because it cannot be opened now. One after the other, because the
   * same message may come from the stream and from the history at once.
   */
  const receive = (message: Message): Promise<boolean> => inTurn(() => receiveNext(message));

  return {
    receive,

    /** Opens what came while this browser had no key for it, and acknowledges it. */
    async openKept(): Promise<void> {
      if (!isKeyed()) return;
      for (const { ref, thread, at, sealed } of (await history.messages()).filter(isSealed)) {
        const from = { from_device_id: thread, from_name: '' };
        const message = { message_id: ref, ...from, content: '', sealed, created_at: at, redelivered: true };
        if (await receive(message)) await acknowledge([ref]);
      }
    },
  };
}
