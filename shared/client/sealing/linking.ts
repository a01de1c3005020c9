import type { CallSettings } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { keepDeviceKeys } from '../sealed/keys/key-store.ts';
import { publicKeysOf, type PublicKeys } from '../sealed/keys/device-keys.ts';
import { sealGrant } from '../sealed/link/grant.ts';
import {
  checkKeys,
  type LinkKey,
  linkKeyText,
  makeLink,
  makeLinkSecret,
  readLinkCode,
} from '../sealed/link/link-code.ts';
import { toBase64url } from '../sealed/primitives/bytes.ts';
import { failureOf } from '../errors/failure.ts';
import type { SessionAnswer } from '../../contract/modules/sessions.ts';
import { sessionOf, watchCookies } from '../session/session-answer.ts';
import { originOf, ownLink } from '../session/service.ts';
import { makeClient } from '../http/client.ts';
import { baseOf } from '../http/request.ts';
import type { DeviceType, SignInLink } from '../wire.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Rings, SealingStores } from './rings.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** What stands in a ring for a device of this type. */
const KIND_OF: Readonly<Record<DeviceType, string>> = {
  browser: 'web',
  ios: 'native',
  shortcut: 'native',
  ...{ macos: 'cli', windows: 'cli', linux: 'cli' },
};

/** What a device asks with, that wants keys. */
export interface Asking {
  readonly keys: PublicKeys;
  /** The link with what its approver needs, which stands in the fragment and goes to no server. */
  linkWith(link: string): Promise<string>;
  /** Keeps what the approver sealed, before anything else is done with the approval. */
  keep(requestId: string, sealed: string | undefined): Promise<void>;
}

/** The parts of a link or of what was typed, and what it says of keys: null where it says nothing. */
export function readKeyedLink(text: string): { link: SignInLink; key: LinkKey | null } | null {
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

const AGAIN_MS = 1_000;

/** Letting devices into the ring, and getting into it. */
export function makeLinking(calls: SealingCalls, rings: Rings, stores: SealingStores) {
  const { caller } = calls;
  return {
    /**
     * Puts the device that asks into the ring, and lets it in for good with full access. Gives the four digits that both show.
     * Throws `other_keys` where somebody has put other keys in place of those in the code.
     */
    async letIn(link: { request_id: string; approval_code: string }, key: LinkKey, settings: CallSettings = {}) {
      const { body: view } = await caller.call('readLogin', { query: link, ...settings });
      const { keys, device_id, request_id } = view;
      if (keys === undefined)
        throw new BatonClientError('other_keys', 'The service does not say which keys the device has');
      await checkKeys(keys, key);
      const member = { device_id, kind: KIND_OF[view.device_type] ?? 'cli', ...keys };
      const keyring = await rings.change({ add: [member] });
      const { sealed, checkCode } = await sealGrant(keyring, { request_id, device_id, keys }, key.secret);
      const body = { ...link, scope: 'full', persist: 'persist', sealed } as const;
      await caller.call('approveLogin', { body, ...settings }).catch(async (error: unknown) => {
        // It was not let in. Where nobody knows whether it was, it stays: the ring says who belongs to it.
        const isRefused = error instanceof BatonClientError && error.status !== null && error.status < 500;
        if (isRefused && view.relink !== true) await rings.change({ remove: [device_id] });
        throw error;
      });
      return { checkCode, keyring };
    },

    /** Asks, as a device that is signed in, for keys. */
    async askForKeys(settings: CallSettings = {}) {
      const asking = await makeAsking(stores);
      const base = baseOf(calls.baseUrl);
      const { body: started } = await caller.call('relinkLogin', { body: { keys: asking.keys }, ...settings });
      const { request_id, poll_secret, qr_payload, expires_at } = started;
      const watched = watchCookies(calls.fetch);
      const client = makeClient({ baseUrl: base, fetch: watched.fetch });
      const poll = () =>
        client.call('pollLogin', {
          query: { request_id, wait_ms: LIMITS.pollMs },
          headers: { 'X-Poll-Secret': poll_secret },
          timeoutMs: LIMITS.pollMs + 10_000,
          retries: 0,
          ...settings,
        });
      /** Keeps what nobody gets twice: what was sealed first, since the session alone would be a device without keys. */
      const keep = async (body: SessionAnswer & { sealed?: string }): Promise<void> => {
        await asking.keep(request_id, body.sealed);
        const known = await calls.store.load();
        const { origins = [originOf(base) ?? ''], service, plain_http } = known ?? {};
        const made = sessionOf(body, watched.credential(), Date.now());
        await calls.store.save({ ...made, origins, service, plain_http });
      };
      const take = async (body: SessionAnswer & { sealed?: string }): Promise<boolean> => {
        await (calls.store.lock?.(() => keep(body)) ?? keep(body));
        return body.sealed !== undefined;
      };
      return {
        link: await asking.linkWith(ownLink(qr_payload, request_id, base)),
        expiresAt: expires_at,
        /** Waits for the approval. False: it was let in without keys. Make sealing anew after it: the session is another one. */
        async approved() {
          for (;;) {
            const answer = await poll().catch((error: unknown) => {
              const failure = failureOf(error);
              if (settings.signal?.aborted === true || failure.action !== 'retry') throw failure;
              if (calls.serverNow() > expires_at + AGAIN_MS) throw failure;
              return null;
            });
            if (answer?.status === 200) return take(answer.body);
            await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
          }
        },
      };
    },

    /** Takes devices out of the ring, which replaces the key of the account. */
    remove: (deviceIds: readonly string[]) => rings.change({ remove: deviceIds }),
  };
}
