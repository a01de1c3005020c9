import type { Opened } from '../sealed/content/body.ts';
import { sealedError } from '../sealed/sealed-error.ts';

/** A text that was taken. */
export interface TakenText {
  readonly messageId: string;
  /** The number of the ring. */
  readonly n: number;
}

/** The sealed texts that this device has shown. A text that comes again under another id is not shown as new. */
export interface TakenTexts {
  /**
   * Returns the service's id under which this text was taken, and the ring that it named; null: it was not taken. `id`: the
   * sender, a colon, and the id that it chose. An id without a sender is that of an earlier version.
   */
  messageOf(id: string): Promise<TakenText | null>;
  /**
   * Notes a text. `n`: the ring that it names. `t`: when its sender says that it was sealed. A text whose ring is no longer
   * known cannot be opened, and may be forgotten.
   */
  addMessage(id: string, messageId: string, n: number, t: number): Promise<void>;
  /**
   * Returns the latest `t` of the texts that were forgotten and could still be opened; 0 if there are none. No text that is
   * as old is shown. A store that forgets none of them has no such method.
   */
  forgottenUntil?(): Promise<number>;
  /** Returns the time of the newest clipboard that this device has taken from that one; 0 before the first. */
  clipboardOf(deviceId: string): Promise<number>;
  /** Notes a clipboard of that time from that device. One that is older than the newest changes nothing. */
  addClipboard(deviceId: string, t: number): Promise<void>;
}

/** The id of a text among those that were taken. It is its sender's own: another one may have chosen the same. */
export const takenId = (from: string, id: string): string => `${from}:${id}`;

/**
 * Finds a text that was taken. An earlier version has noted only the id. Throws `too_old` if the text may have been taken
 * and forgotten.
 */
export async function findTaken(
  taken: TakenTexts,
  { id, t, sender }: Pick<Opened, 'id' | 't' | 'sender'>,
): Promise<TakenText | null> {
  const found = (await taken.messageOf(takenId(sender.device_id, id))) ?? (await taken.messageOf(id));
  if (found === null && t <= ((await taken.forgottenUntil?.()) ?? 0)) throw sealedError('too_old');
  return found;
}

/** Remembers the texts until the program ends. */
export function memoryTaken(): TakenTexts {
  const messages = new Map<string, TakenText>();
  const clipboards = new Map<string, number>();
  return {
    messageOf: (id) => Promise.resolve(messages.get(id) ?? null),
    addMessage(id, messageId, n) {
      messages.set(id, { messageId, n });
      return Promise.resolve();
    },
    clipboardOf: (deviceId) => Promise.resolve(clipboards.get(deviceId) ?? 0),
    addClipboard(deviceId, t) {
      clipboards.set(deviceId, Math.max(t, clipboards.get(deviceId) ?? 0));
      return Promise.resolve();
    },
  };
}
