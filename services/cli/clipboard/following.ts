import type { ReceivedText } from '../../../shared/client/sealing.ts';
import type { SystemClipboard } from './programs.ts';

/** The clipboard of the account, for devices with keys. */
export interface AccountClipboard {
  /** Opens the entry that is there now. Null: there is none. */
  read(): Promise<{ from: string; isOwn: boolean; received: ReceivedText; isOfMember: boolean } | null>;
  write(text: string): Promise<void>;
}

/** Reports events to the user, without the texts themselves. */
export interface Told {
  sent(bytes: number): void;
  taken(bytes: number, from: string): void;
  /** Content that is not carried. */
  left(why: string, from?: string): void;
}

const CLIPBOARD_BYTES = 65_536;
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

/**
 * Returns a text as two clipboards compare it. Each system and each program changes line ends, or leaves out controls and a
 * last line break. Such a change must not go back, because two computers would send it to each other for ever.
 */
const compared = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(CONTROLS, '').trimEnd();

/**
 * Carries texts between the clipboard of this computer and that of the account. It begins with the next change on either side.
 * Calls run one after the other.
 */
export async function makeFollowing(system: SystemClipboard, account: AccountClipboard, told: Told) {
  /** The text that both sides have, as far as this program knows. */
  let known = compared((await system.read()).text ?? '');
  let wasSecret = false;
  let last: Promise<unknown> = Promise.resolve();

  function inTurn(work: () => Promise<void>): Promise<void> {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  }

  /** Returns a text that was copied here since, and that may be sent; null without one. */
  async function copiedHere(): Promise<string | null> {
    const { text, isSecret } = await system.read();
    if (isSecret && !wasSecret) told.left('A password manager marked it as secret');
    wasSecret = isSecret;
    if (text === null || isSecret || compared(text) === known || compared(text) === '') return null;
    if (Buffer.byteLength(text) <= CLIPBOARD_BYTES) return text;
    known = compared(text);
    told.left(`It is longer than ${CLIPBOARD_BYTES} bytes`);
    return null;
  }

  async function send(text: string): Promise<void> {
    await account.write(text);
    known = compared(text);
    told.sent(Buffer.byteLength(text));
  }

  return {
    /** Sends what was copied here, if it is new. */
    lookHere: () =>
      inTurn(async () => {
        const text = await copiedHere();
        if (text !== null) await send(text);
      }),

    /** Takes the entry of the account, if it is new, sealed, and of a member. */
    lookThere: () =>
      inTurn(async () => {
        const entry = await account.read();
        if (entry === null || entry.isOwn) return;
        const { received, from, isOfMember } = entry;
        if (received.kind === 'plain') return told.left('It is not encrypted', from);
        if (received.kind === 'waits' || received.kind === 'refused') return told.left(received.problem.message, from);
        if (received.kind !== 'opened') return;
        if (!isOfMember) return told.left('Its sender is a guest, or does not belong to the account any more', from);
        if (compared(received.text) === known) return;
        // A text that was copied here and is not sent yet is newer.
        const copied = await copiedHere();
        if (copied !== null) return send(copied);
        await system.write(received.text);
        known = compared(received.text);
        told.taken(Buffer.byteLength(received.text), from);
      }),
  };
}
