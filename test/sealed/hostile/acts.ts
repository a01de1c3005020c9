import { hashOf } from '../../../shared/client/sealed/ring/ring.ts';
import type { Guest } from '../../../shared/client/sealed/ring/guests.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import type { Message } from '../../../shared/client/wire.ts';
import { openClipboard } from '../../../shared/client/sealed/content/clipboard.ts';
import { openMessage } from '../../../shared/client/sealed/content/messages.ts';
import { openTransfer } from '../../../shared/client/sealed/content/transfers.ts';
import { type Link, unlessRefused } from './party.ts';
import type { Posted } from './passed.ts';

/** A text that a device has written, or that the server forged with the keys of the removed device. */
export interface Act {
  readonly from: string;
  /** The id of a device, `*`, or `''` for the clipboard. */
  readonly to: string;
  readonly text: string;
  readonly chain: readonly Pick<Link, 'n' | 'hash'>[];
  readonly epoch: number;
  readonly isAfterRemoval: boolean;
  /** The key with which its sender has signed. */
  readonly sig: string;
  /** The time that it names; null: about when it was made. */
  readonly t: number | null;
  /** The guests as its sender knew them. */
  readonly guests: readonly Guest[];
}

/** An item that the server hands to a device. */
export interface Handed {
  readonly message: Message;
  /** The act of the device that wrote it; null for anything else. */
  readonly act: Act | null;
  /** The server made it with the keys of a guest. */
  readonly isOfGuest?: boolean;
  /** The device has not looked for a newer list of guests. */
  readonly isBusy?: boolean;
}

/** Tells whether a device with this keyring opens what was posted. */
export const opens = (posted: Posted, own: Keyring): Promise<boolean> =>
  unlessRefused<unknown>(
    posted.kind === 'clipboard'
      ? openClipboard(own, { ...posted, now: Date.now() })
      : posted.kind === 'transfer'
        ? openTransfer({ ...own, device_id: posted.to }, posted)
        : openMessage(own, posted),
  ).then((opened) => opened !== null);

/** Returns a posted item as the server hands it out. */
export const messageOf = (about: Pick<Posted, 'from' | 'sealed' | 'messageId'> & { plain?: string }): Message => ({
  ...{ message_id: about.messageId, from_device_id: about.from, from_name: 'any', content: about.plain ?? '' },
  ...((about.plain ?? '') === '' && { sealed: about.sealed }),
  ...{ created_at: Date.now(), redelivered: false },
});

/** Returns the numbers and hashes of the rings of a device. */
export const chainIn = ({ rings }: Keyring) => rings.map((ring) => ({ n: ring.body.n, hash: hashOf(ring) }));

/** An act keeps this of the keyring that it used. */
export const knownBy = (keyring: Keyring) => ({
  chain: chainIn(keyring),
  epoch: keyring.ring.body.epoch,
  guests: keyring.guests,
});
