import { BatonClientError } from '../errors/baton-client-error.ts';
import { publicKeysOf, type PublicKeys } from '../sealed/keys/device-keys.ts';
import { keepDeviceKeys } from '../sealed/keys/key-store.ts';
import { inviteDigits, inviteSecretIn } from '../sealed/link/invite.ts';
import { type LinkKey, linkKeyText, makeLink, makeLinkSecret, readLinkCode } from '../sealed/link/link-code.ts';
import { toBase64url } from '../sealed/primitives/bytes.ts';
import type { SignInLink } from '../wire.ts';
import type { SealingStores } from './api.ts';

/** The request of a device that wants keys. */
export interface Asking {
  readonly keys: PublicKeys;
  /** Returns the link with the data that the approver needs. The data is in the fragment and goes to no server. */
  linkWith(link: string): Promise<string>;
  /** Returns the digits of a request with an invite, which the user types on the inviting device. */
  digitsFor(requestId: string): Promise<string>;
  /** Keeps the sealed grant of the approver before the approval has any other effect. */
  keep(requestId: string, sealed: string | undefined): Promise<void>;
}

/** A link, or the text that was typed instead. */
export interface KeyedLink {
  readonly link: SignInLink;
  /** The key part of the link; null: the device will have no keys. */
  readonly key: LinkKey | null;
}

/** Reads a link with its key part; null for any other text. It does not check whose link it is: `signIns.look` does. */
export function readKeyedLink(text: string): KeyedLink | null {
  const trimmed = text.trim();
  const [plain = ''] = trimmed.split('#');
  const origin = URL.canParse(plain) ? new URL(plain).origin : '';
  try {
    const { request_id, approval_code, key } = readLinkCode(trimmed, [origin]);
    // A link stays whole, because `signIns.look` has to check whose it is.
    return { link: origin === '' ? { request_id, approval_code } : plain, key };
  } catch (error) {
    if (error instanceof BatonClientError) return null;
    throw error;
  }
}

/**
 * Prepares the request of a new device, and makes its keys. An earlier request that was cut off may have been approved, so its
 * keys may belong to a device of the account already, and no other device can have the same ones. `invited`: the secret of the
 * invite that the device was shown, as base64url.
 */
export async function makeAsking(
  { asking, grant }: Pick<SealingStores, 'asking' | 'grant'>,
  invited?: string,
): Promise<Asking> {
  await grant.clear();
  await asking.clear();
  const { keys } = await keepDeviceKeys(asking);
  const shown = await publicKeysOf(keys);
  const secret = invited === undefined ? makeLinkSecret() : inviteSecretIn(`1.${invited}`);
  return {
    keys: shown,
    async linkWith(link) {
      const { origin, searchParams } = new URL(link);
      const [request_id, approval_code] = [searchParams.get('r') ?? '', searchParams.get('c') ?? ''];
      return makeLink(origin, { request_id, approval_code, key: await linkKeyText(shown, secret) });
    },
    digitsFor: (requestId) => inviteDigits(secret, shown, requestId),
    async keep(request_id, sealed) {
      if (sealed !== undefined) await grant.save({ request_id, sealed, secret: toBase64url(secret) });
    },
  };
}
