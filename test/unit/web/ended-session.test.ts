import type { SignedIn } from '../../../services/web/session/entry.ts';

/* How the app of a tab ends. Everything around it is replaced. */

const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, make: () => object) => void };
};
Object.assign(globalThis, { window: {}, document: {}, addEventListener: () => {}, indexedDB: {} });

const done: string[] = [];
const note = (what: string) => async () => void done.push(what);
const client = { state: 'offline', signOut: async () => {} };
let isNoted = false;
let lead = (): void => {};
let end: (reason: string) => Promise<void> = async () => {};

const WEB = '../../../services/web';
const replace = (path: string, made: object): void => jest.unstable_mockModule(`${WEB}/${path}`, () => made);
replace('history/lasting.ts', { openLasting: async () => ({ history: { close: () => {} }, queue: {} }) });
replace('session/development.ts', { keepDevelopmentIdentity: () => {} });
replace('session/entry.ts', { isOthers: async () => false, makeClient: () => client });
replace('session/signing-out.ts', {
  endSession: async () => {},
  isSigningOut: () => isNoted,
  removeData: note('removed'),
});
replace('session/this-browser.ts', { leaveBrowser: note('left'), takeBrowser: async () => {} });
replace('outbox/outbox.ts', { makeOutbox: () => ({ start: () => {} }) });
replace('sealing/gate.ts', { makeGate: () => ({ toSend: async () => null }) });
replace('push/keeping.ts', { mendWhenSeen: () => {} });
replace('service-worker/here.ts', { noteKeyedAccount: async () => {} });
replace('outbox/readiness.ts', { makeReadiness: () => ({}) });
replace('engine/older-tabs.ts', { reloadOlderTabs: () => {} });
replace('engine/known-devices.ts', { keepDevices: async () => {}, recallDevices: async () => {} });
replace('engine/leader.ts', {
  makeLeader(parts: { end: typeof end }) {
    ({ end } = parts);
    return { begin: () => void done.push('led') };
  },
});
replace('engine/tabs.ts', {
  joinTabs(options: { lead: () => void }) {
    ({ lead } = options);
    return { isLeading: { value: true }, post: () => {}, join: () => {} };
  },
});
const { endedBy, openApp } = await import('../../../services/web/engine/app.ts');

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(async () => {
  done.length = 0;
  endedBy.value = null;
  isNoted = false;
  client.state = 'offline';
  await openApp({ userId: 'user', deviceId: 'laptop' } as SignedIn);
});

test('a tab whose session another tab has ended does not lead while it is loaded again', () => {
  endedBy.value = 'expired';
  lead();
  expect(done).toEqual([]);
});

test('a tab that was refused while another one led ends when it should lead', async () => {
  client.state = 'signed-out';
  lead();
  await turn();
  expect(done).toEqual(['left']);
  expect(endedBy.peek()).toBe('expired');
});

test.each([
  ['expired', 'stays', false, ['led', 'left']],
  ['gone from the storage', 'stays, because another tab has removed what had to go', false, ['led', 'left']],
  ['gone from the storage', 'goes with a sign-out that is under way', true, ['led', 'left', 'removed']],
  ['revoked', 'goes', false, ['led', 'left', 'removed']],
])('where the session is %s, the data %s', async (how, _, isSigningOut, wanted) => {
  isNoted = isSigningOut;
  lead();
  await end(how === 'gone from the storage' ? 'logout' : how);
  expect(done).toEqual(wanted);
});
