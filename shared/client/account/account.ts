import type { BatonClient, ClientEvents, Devices, Push, Sessions, SignIns } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { Caller } from '../http/caller.ts';
import type { Emitter } from '../emitter.ts';
import { isAmong, ownInvite } from '../session/service.ts';
import { readSignInLink } from '../session/sign-in-link.ts';
import { makeRepeated, type RepeatedParts } from '../time/repeated.ts';
import type { Device, PresenceEntry, SignInLink } from '../wire.ts';
import { targetOf } from './target.ts';

export interface DeviceModule {
  readonly api: Devices;
  onPresence(entries: readonly PresenceEntry[]): void;
  /** Reads the list again. */
  refetch(): void;
}

/** The devices of the account, as last heard. */
export function makeDevices(caller: Caller, emitter: Emitter<ClientEvents>, repeated: RepeatedParts): DeviceModule {
  let known: readonly Device[] = [];
  let presence: readonly PresenceEntry[] = [];

  function overlay(devices: readonly Device[]): readonly Device[] {
    const byId = new Map(presence.map((entry) => [entry.device_id, entry]));
    return devices.map((device) => {
      const entry = byId.get(device.device_id);
      if (entry === undefined) return device;
      return { ...device, name: entry.name, online: entry.online, last_seen_at: entry.last_seen_at };
    });
  }

  function learn(devices: readonly Device[]): void {
    known = overlay(devices);
    emitter.emit('devices', known);
  }

  const api: Devices = {
    get known() {
      return known;
    },
    get presence() {
      return presence;
    },
    async list(settings) {
      return (await caller.call('listDevices', settings)).body.devices;
    },
    async listPresence(settings) {
      return (await caller.call('getPresence', settings)).body.devices;
    },
    async rename(deviceId, name, settings) {
      const params = { device_id: deviceId };
      return (await caller.call('renameDevice', { params, body: { name }, ...settings })).body.device;
    },
    async remove(deviceId, settings) {
      return (await caller.call('removeDevice', { params: { device_id: deviceId }, ...settings })).status === 204;
    },
  };

  return {
    api,
    onPresence(entries) {
      presence = entries;
      emitter.emit('presence', entries);
      if (known.length === 0) return;
      learn(known);
    },
    refetch: makeRepeated(repeated, async () => learn(await api.list())),
  };
}

/** `origins`: those of the service, if they are known. The service knows nothing about a link of another origin. */
function partsOf(link: SignInLink, origins: readonly string[]): { request_id: string; approval_code: string } {
  const parts = typeof link === 'string' ? readSignInLink(link) : link;
  const origin = typeof link === 'string' && URL.canParse(link) ? new URL(link).origin : null;
  if (parts === null) {
    throw new BatonClientError('invalid_request', 'This is no sign-in link');
  }
  if (origin !== null && origins.length > 0 && !isAmong(origin, origins)) {
    throw new BatonClientError('other_service', `This link is of ${origin}, not of ${origins.join(', ')}`);
  }
  const { request_id, approval_code } = parts;
  return { request_id, approval_code };
}

/** Makes the calls that keep no state in the client. */
export function makeAccountCalls(
  caller: Caller,
  /** The origins of the service, if they are known. */
  origins: () => Promise<readonly string[]>,
): Pick<BatonClient, 'me' | 'eraseAccountData' | 'sendSignal' | 'signIns' | 'sessions' | 'push' | 'clipboard'> {
  const signIns: SignIns = {
    async look(link, settings) {
      return (await caller.call('readLogin', { query: partsOf(link, await origins()), ...settings })).body;
    },
    async approve(link, grant, settings) {
      await caller.call('approveLogin', { body: { ...partsOf(link, await origins()), ...grant }, ...settings });
    },
    async invite(settings) {
      const { body } = await caller.call('inviteLogin', settings);
      const { invite_id, invite_payload, expires_at } = body;
      return { invite_id, link: ownInvite(invite_payload, invite_id, await origins()), expires_at };
    },
    async deny(link, settings) {
      await caller.call('denyLogin', { body: partsOf(link, await origins()), ...settings });
    },
  };
  const sessions: Sessions = {
    async list(settings) {
      return (await caller.call('listSessions', settings)).body;
    },
    async removeOthers(settings) {
      return (await caller.call('removeOtherSessions', settings)).body.revoked;
    },
  };
  const push: Push = {
    async config(settings) {
      return (await caller.call('getPushConfig', settings)).body;
    },
    async subscribe(body, settings) {
      return (await caller.call('subscribePush', { body, ...settings })).body;
    },
    async registerNative(body, settings) {
      return (await caller.call('registerNativePush', { body, ...settings })).body;
    },
    async list(settings) {
      return (await caller.call('listPushSubscriptions', settings)).body.subscriptions;
    },
    async remove(subscriptionId, settings) {
      await caller.call('removePushSubscription', { params: { subscription_id: subscriptionId }, ...settings });
    },
    async test(settings) {
      await caller.call('testPush', settings);
    },
  };
  return {
    signIns,
    sessions,
    push,
    clipboard: {
      async get(settings) {
        return (await caller.call('getClipboard', settings)).body;
      },
      async set(content, { deviceName, ...settings } = {}) {
        const headers: Record<string, string> = deviceName === undefined ? {} : { 'X-Device-Name': deviceName };
        const body = { content, content_type: 'text/plain' };
        return (await caller.call('setClipboard', { body, headers, ...settings })).body;
      },
      async clear(settings) {
        await caller.call('clearClipboard', settings);
      },
    },
    async me(settings) {
      return (await caller.call('getMe', settings)).body;
    },
    async sendSignal(to, signal, settings) {
      return (await caller.call('sendSignal', { body: { ...targetOf(to), ...signal }, ...settings })).body.delivered;
    },
    async eraseAccountData(settings) {
      await caller.call('eraseAccount', settings);
    },
  };
}
