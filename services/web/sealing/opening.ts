import type { Message } from '../../../shared/client/index.ts';
import type { TakenText, TakenTexts } from '../../../shared/client/sealing.ts';
import type { History } from '../history/history.ts';

interface OpenedMessage {
  message: Message;
  text: string;
}

/** The place of the note that a sealed text was shown, among the settings of the history. */
export const messageKey = (id: string): string => `sealed-message ${id}`;
const clipboardKey = (deviceId: string): string => `sealed-clipboard ${deviceId}`;

/** Remembers the sealed texts that were shown, beside the history. A message and its mark are stored in one step. */
export function makeOpening(history: History) {
  const { settings } = history;
  const shown = new Map<string, OpenedMessage>();
  const taken: TakenTexts = {
    messageOf: (id) => settings.get<TakenText | null>(messageKey(id), null),
    async addMessage(id, messageId, n) {
      const opened = shown.get(messageId);
      const mark = { key: messageKey(id), value: { messageId, n } };
      if (opened !== undefined) await history.receiveOpened(opened.message, opened.text, mark);
      // Files: the same transfer may be opened again, after a reload, but another one with the same description may not.
      else await settings.set(mark.key, mark.value);
    },
    clipboardOf: (deviceId) => settings.get(clipboardKey(deviceId), 0),
    async addClipboard(deviceId, t) {
      await settings.set(clipboardKey(deviceId), Math.max(t, await settings.get(clipboardKey(deviceId), 0)));
    },
  };
  return {
    taken,
    /** Runs `note`, which calls `taken.addMessage` for this message. */
    async inOneStep(opened: OpenedMessage, note: () => Promise<void>): Promise<void> {
      const { message_id } = opened.message;
      shown.set(message_id, opened);
      try {
        await note();
      } finally {
        shown.delete(message_id);
      }
    },
  };
}

export type Opening = ReturnType<typeof makeOpening>;
