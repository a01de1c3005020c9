import type { CallSettings } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { failureOf } from '../errors/failure.ts';
import type { SessionAnswer } from '../../contract/modules/sessions.ts';
import { LIMITS } from '../../contract/limits.ts';
import { makeClient } from '../http/client.ts';
import { baseOf } from '../http/request.ts';
import { sealGrant } from '../sealed/link/grant.ts';
import { checkKeys } from '../sealed/link/link-code.ts';
import { originOf, originsOf, ownLink } from '../session/service.ts';
import { sessionOf, watchCookies } from '../session/session-answer.ts';
import { type Access, accessOf, isMemberBy } from './access.ts';
import type { DeviceType, SignInRequestView } from '../wire.ts';
import type { PublicKeys } from '../sealed/keys/device-keys.ts';
import { type Keyring, keysOf } from '../sealed/keyring.ts';
import { memberOf } from '../sealed/ring/ring.ts';
import { WORDS_ID } from '../sealed/ring/words-member.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import type { Rings, SealingStores } from './api.ts';
import { makeAsking } from './asking.ts';
import { endWithSession } from './guest-end.ts';
import type { GuestList } from './guest-list.ts';
import type { Linking, Replaced } from './linking-api.ts';
import { sealingError } from './problem.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** The kind of a member in a ring, by the type of its device. */
const KIND_OF: Readonly<Record<DeviceType, string>> = {
  browser: 'web',
  ios: 'native',
  shortcut: 'native',
  ...{ macos: 'cli', windows: 'cli', linux: 'cli' },
};

const AGAIN_MS = 1_000;

/**
 * How long a guest is one until the end of its session is known: by default a `once` session lasts an hour, and it begins
 * within the two minutes of its request.
 */
const ONCE_MS = 3_720_000;
/** A guest whose session is renewed has its place for as long as an absent member. */
const RENEWED_MS = 90 * 86_400_000;

/** Finds the member or guest that has this id, and other keys. */
function holderOf({ ring, guests }: Keyring, id: string, { enc, sig }: PublicKeys): Replaced | null {
  const holder = memberOf(ring, id) ?? guests.find((each) => each.device_id === id) ?? null;
  return holder === null || (holder.enc === enc && holder.sig === sig)
    ? null
    : { device_id: id, enc: holder.enc, sig: holder.sig };
}

/**
 * Throws `other_keys` if another device already has the id that the service names. A new device has a new id. Only a device
 * that asks for keys again replaces its own keys, and only the service says that it is one. So it has to be the device that
 * the user has been shown: `replaces_keys` otherwise. Nothing replaces this device or the recovery words.
 */
function checkPlace(
  keyring: Keyring,
  { device_id: id, relink }: SignInRequestView,
  { keys, replaces }: { keys: PublicKeys; replaces: string | undefined },
): void {
  const holder = holderOf(keyring, id, keys);
  if (id === keyring.device_id || id === WORDS_ID || (holder !== null && relink !== true)) {
    throw sealedError('other_keys');
  }
  if (holder !== null && holder.sig !== replaces) throw sealingError('replaces_keys');
}

/** Lets devices into the ring, or in as guests, and gets this device into the ring. */
export function makeLinking(
  calls: SealingCalls,
  rings: Rings & { readonly guests: GuestList },
  stores: SealingStores,
): Linking {
  const { caller } = calls;

  /** Puts a device into the ring, or on the list of guests. `wasIn`: another approver had done so. */
  async function admit(
    view: SignInRequestView,
    given: { keys: PublicKeys; replaces: string | undefined },
    access: Access,
  ): Promise<{ keyring: Keyring; wasIn: boolean }> {
    const { device_id, device_type } = view;
    const { enc, sig } = given.keys;
    let wasIn = false;
    const check = (keyring: Keyring): void => {
      checkPlace(keyring, view, given);
      wasIn = keysOf(keyring, device_id, calls.trustedNow())?.sig === sig;
    };
    if (isMemberBy(access)) {
      const add = [{ device_id, kind: KIND_OF[device_type] ?? 'cli', enc, sig }];
      return { keyring: await rings.change({ add }, check), wasIn };
    }
    const until = calls.trustedNow() + (access.persist === 'once' ? ONCE_MS : RENEWED_MS);
    return { keyring: await rings.guests.add({ device_id, enc, sig, until }, check), wasIn };
  }

  return {
    async letIn(link, key, { scope, persist, replaces, ...settings } = {}) {
      const { body: view } = await caller.call('readLogin', { query: link, ...settings });
      const { keys, device_id, request_id } = view;
      if (keys === undefined)
        throw new BatonClientError('other_keys', 'The service does not say which keys the device has');
      await checkKeys(keys, key);
      const access = accessOf(view, { scope, persist });
      const isMember = isMemberBy(access);
      const from = calls.trustedNow();
      const { keyring, wasIn } = await admit(view, { keys, replaces }, access);
      const { sealed, checkCode } = await sealGrant(keyring, { request_id, device_id, keys }, key.secret);
      const body = { ...link, ...access, sealed };
      await caller.call('approveLogin', { body, ...settings }).catch(async (error: unknown) => {
        // A refused device leaves again, unless another approver let it in. If the outcome is unknown it stays, because the
        // ring decides who belongs to the account.
        const isRefused = error instanceof BatonClientError && error.status !== null && error.status < 500;
        const isOfOther = wasIn || (error as BatonClientError).code === 'login_consumed';
        if (isRefused && !isOfOther && view.relink !== true) {
          await (isMember ? rings.change({ remove: [device_id] }) : rings.guests.endAt(device_id, calls.trustedNow()));
        }
        throw error;
      });
      const isForAWhile = !isMember && access.persist === 'once';
      const endsWithSession = async (more: CallSettings = {}): Promise<Keyring | null> =>
        isForAWhile ? endWithSession(calls, rings.guests, { ...view, from }, more) : null;
      return { checkCode, keyring, isMember, endsWithSession };
    },

    async replaced({ device_id: id, keys }) {
      const keyring = keys === undefined ? null : await rings.known();
      return keys === undefined || keyring === null ? null : holderOf(keyring, id, keys);
    },

    async askForKeys(settings = {}) {
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
      /**
       * Keeps the approval, which comes only once. The grant is kept first, because a session without the grant would be a
       * device without keys.
       */
      const keep = async (body: SessionAnswer & { sealed?: string }): Promise<void> => {
        await asking.keep(request_id, body.sealed);
        const known = await calls.store.load();
        const { origins = originsOf(originOf(base)), service, plain_http } = known ?? {};
        const made = sessionOf(body, watched.credential(), Date.now());
        await calls.store.save({ ...made, origins, service, plain_http });
      };
      const take = async (body: SessionAnswer & { sealed?: string }): Promise<boolean> => {
        await (calls.store.lock?.(() => keep(body)) ?? keep(body));
        return body.sealed !== undefined;
      };
      return {
        link: await asking.linkWith(ownLink(qr_payload, request_id, base)),
        expires_at,
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

    remove: (deviceIds) => rings.change({ remove: deviceIds }),
  };
}
