import { memoryKeys } from '../../../../shared/client/sealed.ts';
import { makeLinking } from '../../../../shared/client/sealing/linking.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
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
