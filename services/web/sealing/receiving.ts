import type { BatonClientError, Message } from '../../../shared/client/index.ts';
import type { Keyring } from '../../../shared/client/sealed.ts';
import type { ReceivedText, SealedTexts } from '../../../shared/client/sealing.ts';
import { type History, isSealed, makeTurns } from '../history/history.ts';
import { isPassing } from '../engine/repeated.ts';
import type { Opening } from './opening.ts';

/** A received text, and the ring that was used to open it. */
export interface Opened {
  readonly received: ReceivedText;
  readonly keyring: Keyring;
}

interface Receiving {
  history: Pick<History, 'receive' | 'receiveRefused' | 'messages' | 'untilKept'>;
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
  /** The messages that are open, and whose acknowledgement has no answer yet. */
  const unacknowledged = new Set<string>();

  /** `onPassing` gets the error if the message stays closed for a temporary reason. */
  async function receiveNext(message: Message, onPassing: (error: BatonClientError) => void): Promise<boolean> {
    const found = await opened((keyring) => texts().open(keyring, message)).catch((error: unknown) => {
      if (isPassing(error)) onPassing(error);
      return null;
    });
    if (found === null || found.received.kind === 'waits') return history.receive(message);
    const { received, keyring } = found;
    if (received.kind === 'refused') await history.receiveRefused(message);
    if (received.kind === 'opened') {
      // This uses the same ring, because to fetch it again could fail, or bring another one.
      await opening.inOneStep({ message, text: received.text }, () => texts().shown(keyring, message));
    }
    return true;
  }

  /**
   * Takes a sealed message. False: it stays in the mailbox, because it cannot be opened now. One after the other, because the
   * same message may come from the stream and from the history at once.
   */
  const receive = (message: Message, onPassing: (error: BatonClientError) => void = () => {}): Promise<boolean> =>
    inTurn(() => receiveNext(message, onPassing));

  return {
    receive: (message: Message): Promise<boolean> => receive(message),

    /**
     * Opens what came while this browser had no key for it, and acknowledges it. Rejects when the service could not be asked
     * about one of the messages, or about the acknowledgement; the next call goes on with those.
     */
    async openKept(): Promise<void> {
      if (!isKeyed()) return;
      const passing: BatonClientError[] = [];
      for (const { ref, thread, at, sealed } of (await history.messages()).filter(isSealed)) {
        const from = { from_device_id: thread, from_name: '' };
        const message = { message_id: ref, ...from, content: '', sealed, created_at: at, redelivered: true };
        if (await receive(message, (error) => passing.push(error))) unacknowledged.add(ref);
        // The next one would ask the same service for the same ring.
        if (passing.length > 0) break;
      }
      // Otherwise they exist only in this page, and are acknowledged when the mailbox hands them over again.
      const ids = history.untilKept() === null ? [...unacknowledged] : [];
      if (ids.length > 0) await acknowledge(ids);
      for (const id of ids) unacknowledged.delete(id);
      if (passing[0] !== undefined) throw passing[0];
    },
  };
}
