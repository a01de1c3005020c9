import type { ReceivedText } from '../../../shared/client/sealing.ts';
import type { SystemClipboard } from './programs.ts';

/** The clipboard of the account, for devices with keys. */
export interface AccountClipboard {
  /** Opens the entry that is there now. Null: there is none. */
  read(): Promise<AccountEntry | null>;
  write(text: string): Promise<void>;
}

interface AccountEntry {
  readonly from: string;
  readonly isOwn: boolean;
  readonly received: ReceivedText;
  readonly isOfMember: boolean;
  /** By which an entry is recognised: when the service got it. */
  readonly updatedAt: number;
}

/** A text that was copied here and is not sent yet. */
interface Pending {
  readonly text: string;
  /** When this program first saw it, in Unix milliseconds of the service. */
  readonly sinceMs: number;
  /** True: it could not be sent, so the entry of the account may have changed meanwhile. */
  hasWaited: boolean;
}

interface Parts {
  system: SystemClipboard;
  account: AccountClipboard;
  told: Told;
  /** The clock of the service, by which the other devices date their texts. */
  serverNow: () => number;
  /** The entry that was there when the command began. */
  before: number | null;
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

/** Returns why an entry of the account is not taken; null if it may be. */
function reasonAgainst(received: ReceivedText, isOfMember: boolean): string | null {
  if (received.kind === 'plain') return 'It is not encrypted';
  if (received.kind === 'waits' || received.kind === 'refused') return received.problem.message;
  return isOfMember ? null : 'Its sender is a guest, or does not belong to the account any more';
}

/** The clipboard of this computer, and what was copied there and is not sent yet. */
async function makeHere({ system, told, serverNow }: Pick<Parts, 'system' | 'told' | 'serverNow'>) {
  /** The text that both sides have, as far as this program knows. */
  let known = compared((await system.read()).text ?? '');
  let wasSecret = false;
  let pending: Pending | null = null;

  const isKnown = (text: string): boolean => compared(text) === known;
  const note = (text: string): void => void (known = compared(text));

  async function newText(): Promise<string | null> {
    const { text, isSecret } = await system.read();
    if (isSecret && !wasSecret) told.left('A password manager marked it as secret');
    wasSecret = isSecret;
    if (text === null || isSecret || isKnown(text) || compared(text) === '') return null;
    if (Buffer.byteLength(text) <= CLIPBOARD_BYTES) return text;
    note(text);
    told.left(`It is longer than ${CLIPBOARD_BYTES} bytes`);
    return null;
  }

  return {
    isKnown,
    /** Notes that both sides have this text. */
    note,
    async write(text: string): Promise<void> {
      await system.write(text);
      note(text);
    },
    /** Returns a text that was copied here since, and that may be sent; null without one. */
    async copied(): Promise<Pending | null> {
      const text = await newText();
      if (text === null) pending = null;
      else if (pending?.text !== text) pending = { text, sinceMs: serverNow(), hasWaited: false };
      return pending;
    },
  };
}

/**
 * Carries texts between the clipboard of this computer and that of the account. It begins with the next change on either side.
 * If both have changed, as while there was no network, the text that was copied last wins, and the user is told of the other.
 * Calls run one after the other.
 */
export async function makeFollowing({ system, account, told, serverNow, before }: Parts) {
  const here = await makeHere({ system, told, serverNow });
  /** The newest entry of the account that was dealt with. */
  let seenAt = before;
  let last: Promise<unknown> = Promise.resolve();

  function inTurn(work: () => Promise<void>): Promise<void> {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  }

  async function send(copied: Pending): Promise<void> {
    const { text } = copied;
    try {
      await account.write(text);
    } catch (error) {
      copied.hasWaited = true;
      throw error;
    }
    here.note(text);
    told.sent(Buffer.byteLength(text));
  }

  /** Takes an entry, or sends what was copied here later. False: the entry is none to take. */
  async function settle({ received, from, isOwn, isOfMember, updatedAt }: AccountEntry): Promise<boolean> {
    if (isOwn || updatedAt === seenAt) return false;
    const notTaken = reasonAgainst(received, isOfMember);
    if (notTaken !== null) told.left(notTaken, from);
    const isText = notTaken === null && received.kind === 'opened' && !here.isKnown(received.text);
    if (!isText) {
      seenAt = updatedAt;
      return false;
    }
    const copied = await here.copied();
    if (copied !== null && copied.sinceMs >= received.t) {
      await send(copied);
      told.left('A text that was copied here later took its place', from);
    } else {
      await here.write(received.text);
      told.taken(Buffer.byteLength(received.text), from);
      if (copied !== null) told.left('A text that was copied there later took its place');
    }
    seenAt = updatedAt;
    return true;
  }

  return {
    /** Sends what was copied here, if it is new, and if nothing later came to the account while it waited. */
    lookHere: () =>
      inTurn(async () => {
        const copied = await here.copied();
        if (copied === null) return;
        const entry = copied.hasWaited ? await account.read() : null;
        if (entry === null || !(await settle(entry))) await send(copied);
      }),

    /** Notes when a text was copied here, while it cannot be sent. */
    noteHere: () => inTurn(async () => void (await here.copied())),

    /** Takes the entry of the account, if it is new, sealed, of a member, and was copied later than what was copied here. */
    lookThere: () =>
      inTurn(async () => {
        const entry = await account.read();
        if (entry !== null) await settle(entry);
      }),
  };
}
