import { BatonClientError } from '../../../../shared/client/errors/baton-client-error.ts';
import { memoryKeys } from '../../../../shared/client/sealed.ts';
import { readRing } from '../../../../shared/client/sealed/ring/ring.ts';
import { fingerprintOfKeys, makeLinkSecret } from '../../../../shared/client/sealed/link/link-code.ts';
import type { Keyring } from '../../../../shared/client/sealed/keyring.ts';
import type { RingChange } from '../../../../shared/client/sealed/ring/change.ts';
import { makeLinking } from '../../../../shared/client/sealing/linking.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { makeRings } from '../../../../shared/client/sealing/rings.ts';
import { ACCOUNT, codeOf, firstRing, keyringOf, makePerson, nextRing, NOW, type Person } from '../sealed/people.ts';
import type { Session } from '../../../../shared/client/session/session.ts';

const ORIGIN = 'https://baton.example';
const IDS = { request_id: 'AAAAAAAAAAAAAAAAAAAAAA', approval_code: 'BBBBBBBBBBBBBBBBBBBBBB' };

const PAGE = ['location', 'document'] as const;
afterEach(() => PAGE.forEach((name) => Reflect.deleteProperty(globalThis, name)));

test('a page of the service itself keeps no address with the session that it gets with its keys', async () => {
  for (const name of PAGE) Object.defineProperty(globalThis, name, { value: { origin: ORIGIN }, configurable: true });
  const saved: Session[] = [];
  const started = {
    ...{ request_id: IDS.request_id, poll_secret: 'secret', expires_at: Date.now() + 120_000 },
    qr_payload: `${ORIGIN}/link?r=${IDS.request_id}&c=${IDS.approval_code}`,
  };
  const approved = {
    ...{ status: 'approved', access_token: 'token', token_type: 'Bearer', expires_in: 300, scope: 'full' },
    ...{ persist: 'persist', session_expires_at: Date.now() + 7_200_000, device: null },
    user: { user_id: 'u1', name: 'Ann' },
  };
  const calls = {
    caller: { call: () => Promise.resolve({ status: 201, body: started }) },
    baseUrl: '',
    fetch: () => Promise.resolve(Response.json(approved)),
    store: { load: () => null, save: (session: Session) => void saved.push(session), clear: () => {} },
    serverNow: Date.now,
  } as unknown as SealingCalls;
  const grant = { load: async () => null, save: async () => {}, clear: async () => {} };
  const stores = { keys: memoryKeys(), asking: memoryKeys(), grant };
  const request = await makeLinking(calls, {} as Parameters<typeof makeLinking>[1], stores).askForKeys();
  expect(await request.approved()).toBe(false);
  expect(saved.map(({ origins }) => origins)).toEqual([[]]);
});

describe('a service that says of a new device that it is another one which has lost its keys', () => {
  async function lied(device_id: string) {
    const [own, other, asking] = [await makePerson('laptop-1'), await makePerson('phone-1'), await makePerson('new-1')];
    const first = await firstRing(own);
    const keyring = await keyringOf(own, [first, await nextRing(first, own, { add: [other.asks] })]);
    const { enc, sig } = asking.asks;
    const view = {
      ...{ request_id: IDS.request_id, device_id, device_type: 'linux', keys: { enc, sig }, relink: true },
      ...{ allowed_scopes: ['full'], allowed_persist: ['persist'], expires_at: NOW },
    };
    const call = async () => ({ status: 200, body: view });
    const calls = { caller: { call }, serverNow: () => NOW, trustedNow: () => NOW } as unknown as SealingCalls;
    const rings = {
      known: async () => keyring,
      change: async ({ add }: RingChange, check: (keyring: Keyring) => void) => {
        check(keyring);
        return { ...keyring, ring: await nextRing(keyring.ring, own, { add: add ?? [] }) };
      },
    } as unknown as Parameters<typeof makeLinking>[1];
    const linking = makeLinking(calls, rings, {} as Parameters<typeof makeLinking>[2]);
    const key = { fingerprint: await fingerprintOfKeys({ enc, sig }), secret: makeLinkSecret() };
    const letIn = (replaces?: string) => codeOf(linking.letIn(IDS, key, { replaces }));
    return { own, other, linking, letIn, view };
  }

  test('gives it the place of that device only where the user was shown which device that is', async () => {
    const { linking, letIn, view, own, other } = await lied('phone-1');
    expect(await letIn()).toBe('replaces_keys');
    expect(await letIn(own.asks.sig)).toBe('replaces_keys');
    expect(await linking.replaced(view)).toMatchObject({ device_id: 'phone-1', sig: other.asks.sig });
    expect(await letIn(other.asks.sig)).toBe('taken');
  });

  test('and puts its own keys in the place of those of the code, lets nobody in', async () => {
    const { linking, own } = await lied('new-1');
    const key = { fingerprint: await fingerprintOfKeys(own.asks), secret: makeLinkSecret() };
    expect(await codeOf(linking.letIn(IDS, key))).toBe('other_keys');
  });

  test('never gives it the place of the device that lets it in', async () => {
    const { letIn, own } = await lied('laptop-1');
    expect(await letIn(own.asks.sig)).toBe('other_keys');
  });
});

test.each(['already_decided', 'login_consumed'])(
  'a second approver of the same request, whom the service tells %s, leaves the device where it is',
  async (code) => {
    const id = 'new-1';
    const people = (await Promise.all(['laptop-1', 'phone-1', id].map((each) => makePerson(each)))) as [
      Person,
      Person,
      Person,
    ];
    const [one, other, asking] = people;
    const first = await firstRing(one);
    const stored = [first.text, (await nextRing(first, one, { add: [other.asks] })).text];
    const { enc, sig } = asking.asks;
    const about = { ...IDS, device_id: id, device_type: 'linux', keys: { enc, sig } };
    const view = { ...about, allowed_scopes: ['full'], allowed_persist: ['persist'], expires_at: NOW };
    let approvals = 0;
    const answers: Record<string, (given: { body?: { ring: string } }) => object> = {
      readLogin: () => view,
      getKeys: () => ({ rings: stored, n: stored.length, guests: null }),
      putKeys: ({ body }) => ({ n: stored.push(body?.ring ?? '') }),
      approveLogin: () => {
        approvals += 1;
        if (approvals > 1) throw new BatonClientError(code, 'It was decided.', { status: 409 });
        return {};
      },
    };
    const call = async (name: string, given = {}) => ({ body: answers[name]?.(given) });
    const key = { fingerprint: await fingerprintOfKeys({ enc, sig }), secret: makeLinkSecret() };
    const letIn = async (approver: Person): Promise<string> => {
      await keyringOf(approver, await Promise.all(stored.slice(0, 2).map((text) => readRing(text, ACCOUNT))));
      const session = { device: { device_id: approver.id }, user: { user_id: ACCOUNT.user_id } };
      const times = { serverNow: () => NOW, trustedNow: () => NOW };
      const calls = { caller: { call }, ...times, session: async () => session } as unknown as SealingCalls;
      const grant = { load: async () => null, save: async () => {}, clear: async () => {} };
      const stores = { keys: approver.store, asking: memoryKeys(), grant };
      return codeOf(makeLinking(calls, makeRings(calls, stores), stores).letIn(IDS, key, { scope: 'full' }));
    };
    expect(await letIn(one)).toBe('taken');
    expect(await letIn(other)).toBe(code);
    const { members } = (await readRing(stored.at(-1) ?? '', ACCOUNT)).body;
    expect(members.map(({ device_id }) => device_id)).toContain(id);
  },
);
