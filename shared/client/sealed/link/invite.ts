import type { PublicKeys } from '../keys/device-keys.ts';
import { type Bytes, fromBase64url, isSame, toBase64url, utf8 } from '../primitives/bytes.ts';
import { digitsOf } from '../primitives/digits.ts';
import { hmac, hmacKey } from '../primitives/hkdf.ts';
import { parts } from '../primitives/parts.ts';
import { sealedError } from '../sealed-error.ts';
import { keyBytes } from './link-code.ts';

const DIGITS = 6;
const TRIES = 3;
const SECRET_BYTES = 16;

/** Returns `1.` and the secret, which follow `#k=` in the link of an invite. The new device's keys are not known yet. */
export const inviteKeyText = (secret: Bytes): string => `1.${toBase64url(secret)}`;

/** Reads the secret of an invite from its link. Throws `bad_code`. */
export function inviteSecretIn(text: string): Bytes {
  const secret = /^1\.[\w-]{22}$/.test(text) ? fromBase64url(text.slice(2)) : null;
  if (secret?.length !== SECRET_BYTES) throw sealedError('bad_code');
  return secret;
}

/** Makes the six digits that the new device shows. The user types them on the inviting device before anything is sealed. */
export async function inviteDigits(secret: Bytes, keys: PublicKeys, requestId: string): Promise<string> {
  const said = parts(['baton/1 invite', keyBytes(keys), requestId]);
  return digitsOf(await hmac(await hmacKey(secret), said), DIGITS);
}

/** One invite on the inviting device. */
export interface InviteCheck {
  /** How often wrong digits can still be typed. */
  readonly triesLeft: number;
  /** Throws `wrong_digits`, and `invite_over` from the third wrong try on. */
  type(digits: string): Promise<void>;
}

/** Compares the digits that the user types with the keys of the request, as the service shows it. */
export function checkInvite(secret: Bytes, keys: PublicKeys, requestId: string): InviteCheck {
  let triesLeft = TRIES;
  return {
    get triesLeft() {
      return triesLeft;
    },
    async type(digits) {
      if (triesLeft === 0) throw sealedError('invite_over');
      // Counts a try before the comparison, so that simultaneous tries count too.
      triesLeft -= 1;
      const wanted = await inviteDigits(secret, keys, requestId);
      if (isSame(utf8(digits.replaceAll(/\s/g, '')), utf8(wanted))) {
        triesLeft += 1;
        return;
      }
      throw sealedError(triesLeft === 0 ? 'invite_over' : 'wrong_digits');
    },
  };
}
