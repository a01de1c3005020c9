/** Which sealed texts this device has shown: what comes a second time, under another id of the service, is not shown as new. */
export interface TakenTexts {
  /** The id of the service under which the text with this id was taken; null: it was not. */
  messageOf(id: string): Promise<string | null>;
  /** `n`: the ring that the text names. What names a ring that is not known any more cannot be opened, and may be forgotten. */
  addMessage(id: string, messageId: string, n: number): Promise<void>;
  /** The time of the newest clipboard that this device has taken from that one; 0 before the first. */
  clipboardOf(deviceId: string): Promise<number>;
  /** A clipboard of that time was taken from that device; an older one than the newest changes nothing. */
  addClipboard(deviceId: string, t: number): Promise<void>;
}

/** Remembers until the program ends. */
export function memoryTaken(): TakenTexts {
  const messages = new Map<string, string>();
  const clipboards = new Map<string, number>();
  return {
    messageOf: (id) => Promise.resolve(messages.get(id) ?? null),
    addMessage(id, messageId) {
      messages.set(id, messageId);
      return Promise.resolve();
    },
    clipboardOf: (deviceId) => Promise.resolve(clipboards.get(deviceId) ?? 0),
    addClipboard(deviceId, t) {
      clipboards.set(deviceId, Math.max(t, clipboards.get(deviceId) ?? 0));
      return Promise.resolve();
    },
  };
}
