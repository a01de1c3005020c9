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
import type { DeviceType } from '../wire.ts';
import type { Linking, Rings, SealingStores } from './api.ts';
import { makeAsking } from './asking.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** The kind of a member in a ring, by the type of its device. */
const KIND_OF: Readonly<Record<DeviceType, string>> = {
  browser: 'web',
  ios: 'native',
  shortcut: 'native',
  ...{ macos: 'cli', windows: 'cli', linux: 'cli' },
};

const AGAIN_MS = 1_000;

/** Lets devices into the ring, and gets this device into it. */
export function makeLinking(calls: SealingCalls, rings: Rings, stores: SealingStores): Linking {
  const { caller } = calls;
  return {
    async letIn(link, key, settings = {}) {
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
        // A refused device leaves the ring. Where the outcome is unknown it stays, because the ring decides who belongs to
        // the account.
        const isRefused = error instanceof BatonClientError && error.status !== null && error.status < 500;
        if (isRefused && view.relink !== true) await rings.change({ remove: [device_id] });
        throw error;
      });
      return { checkCode, keyring };
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
       * Keeps the approval, which comes only once. The grant is kept first, because the session alone would be a device
       * without keys.
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
