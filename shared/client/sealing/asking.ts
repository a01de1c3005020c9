import { BatonClientError } from '../errors/baton-client-error.ts';
import { publicKeysOf, type PublicKeys } from '../sealed/keys/device-keys.ts';
import { keepDeviceKeys } from '../sealed/keys/key-store.ts';
import { type LinkKey, linkKeyText, makeLink, makeLinkSecret, readLinkCode } from '../sealed/link/link-code.ts';
import { toBase64url } from '../sealed/primitives/bytes.ts';
import type { SignInLink } from '../wire.ts';
import type { SealingStores } from './api.ts';

/** What a device asks with, that wants keys. */
export interface Asking {
  readonly keys: PublicKeys;
  /** The link with what its approver needs, which stands in the fragment and goes to no server. */
  linkWith(link: string): Promise<string>;
  /** Keeps what the approver sealed, before anything else is done with the approval. */
  keep(requestId: string, sealed: string | undefined): Promise<void>;
}

/** A link, or what was typed in its place. */
export interface KeyedLink {
  readonly link: SignInLink;
  /** What it says of keys; null: the device will have none. */
  readonly key: LinkKey | null;
}

/** Reads a link with what it says of keys; null for any other text. Whose link it is has to be looked at: `signIns.look` does. */
export function readKeyedLink(text: string): KeyedLink | null {
  const trimmed = text.trim();
  const [plain = ''] = trimmed.split('#');
  const origin = URL.canParse(plain) ? new URL(plain).origin : '';
  try {
    const { request_id, approval_code, key } = readLinkCode(trimmed, [origin]);
    // Whole, where it is a link: whose it is has to be looked at.
    return { link: origin === '' ? { request_id, approval_code } : plain, key };
  } catch (error) {
    if (error instanceof BatonClientError) return null;
    throw error;
  }
}

/** What a new device asks with; its keys are made where there are none. */
export async function makeAsking({ asking, grant }: Pick<SealingStores, 'asking' | 'grant'>): Promise<Asking> {
  await grant.clear();
  const { keys } = await keepDeviceKeys(asking);
  const shown = await publicKeysOf(keys);
  const secret = makeLinkSecret();
  return {
    keys: shown,
    async linkWith(link) {
      const { origin, searchParams } = new URL(link);
      const [request_id, approval_code] = [searchParams.get('r') ?? '', searchParams.get('c') ?? ''];
      return makeLink(origin, { request_id, approval_code, key: await linkKeyText(shown, secret) });
    },
    async keep(request_id, sealed) {
      if (sealed !== undefined) await grant.save({ request_id, sealed, secret: toBase64url(secret) });
    },
  };
}
