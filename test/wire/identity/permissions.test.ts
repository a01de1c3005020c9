import { v7 as uuidv7 } from 'uuid';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import type { RouteName } from '../../../shared/contract/routes.ts';
import { makeDevice, randomUser, type TestDevice } from '../../support/device.ts';
import { isPublic, ROUTE_NAMES, routeOf, sampleRequest } from '../../support/samples.ts';
import { type Site, startSite } from '../../support/site.ts';
import { picture } from '../../support/redis/stored.ts';
import { expectProblem, request, type WireAnswer } from '../../support/wire.ts';

/* Who may do what: one line for every route, by CONTRACT.md, "Identity". A new route has no line and fails here. */

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.stop());

/** `page`: the question or refusal is a page for people. `to_app`: the caller is sent to the web app. */
type Verdict = 'served' | 'page' | 'to_app' | ErrorCode;

/** A guest that acts on its own things. */
const GUEST: Record<RouteName, Verdict> = {
  getMe: 'served',
  startLogin: 'served',
  inviteLogin: 'guest_forbidden',
  relinkLogin: 'served',
  pollLogin: 'poll_secret_required',
  readLogin: 'guest_forbidden',
  approveLogin: 'guest_forbidden',
  denyLogin: 'not_found',
  openLink: 'page',
  decideLink: 'page',
  logIn: 'broker_unavailable',
  startDeviceSession: 'broker_unavailable',
  refreshSession: 'broker_unavailable',
  logOut: 'served',
  listSessions: 'guest_forbidden',
  removeSession: 'guest_forbidden',
  removeDevice: 'guest_forbidden',
  removeOtherSessions: 'guest_forbidden',
  eraseAccount: 'guest_forbidden',
  listDevices: 'served',
  renameDevice: 'served',
  openStream: 'served',
  getPresence: 'served',
  sendMessage: 'served',
  listMessages: 'served',
  ackMessages: 'served',
  getClipboard: 'served',
  setClipboard: 'served',
  clearClipboard: 'served',
  getKeys: 'not_found',
  putKeys: 'guest_forbidden',
  putGuests: 'guest_forbidden',
  deleteKeys: 'guest_forbidden',
  keepKeys: 'guest_forbidden',
  initTransfer: 'served',
  listTransfers: 'served',
  getTransfer: 'not_found',
  acceptTransfer: 'not_found',
  rejectTransfer: 'not_found',
  p2pTransfer: 'not_found',
  relayTransfer: 'not_found',
  completeTransfer: 'not_found',
  failTransfer: 'not_found',
  cancelTransfer: 'not_found',
  phaseTransfer: 'not_found',
  headUpload: 'not_found',
  appendUpload: 'not_found',
  download: 'not_found',
  ackDownload: 'not_found',
  sendSignal: 'served',
  getIceServers: 'served',
  getPushConfig: 'served',
  subscribePush: 'served',
  registerNativePush: 'feature_disabled',
  listPushSubscriptions: 'served',
  removePushSubscription: 'not_found',
  testPush: 'not_found',
  getOpenApi: 'served',
  getDocs: 'served',
  getReferenceFile: 'not_found',
  getHome: 'served',
  getLink: 'served',
  getJoin: 'served',
  getAppFile: 'not_found',
  getWorker: 'served',
  openShare: 'to_app',
  postShare: 'to_app',
  getIcon: 'served',
  getHealth: 'served',
};

/** A session without a device, with full scope. */
const WITHOUT_DEVICE: Record<RouteName, Verdict> = {
  ...GUEST,
  startDeviceSession: 'served',
  inviteLogin: 'device_required',
  relinkLogin: 'device_required',
  readLogin: 'not_found',
  approveLogin: 'not_found',
  listSessions: 'served',
  removeSession: 'served',
  removeDevice: 'served',
  removeOtherSessions: 'served',
  eraseAccount: 'served',
  renameDevice: 'device_required',
  openStream: 'device_required',
  getKeys: 'device_required',
  putKeys: 'device_required',
  putGuests: 'device_required',
  deleteKeys: 'device_required',
  keepKeys: 'device_required',
  initTransfer: 'device_required',
  listTransfers: 'device_required',
  getTransfer: 'device_required',
  acceptTransfer: 'device_required',
  rejectTransfer: 'device_required',
  p2pTransfer: 'device_required',
  relayTransfer: 'device_required',
  completeTransfer: 'device_required',
  failTransfer: 'device_required',
  cancelTransfer: 'device_required',
  phaseTransfer: 'device_required',
  headUpload: 'device_required',
  appendUpload: 'device_required',
  download: 'device_required',
  ackDownload: 'device_required',
  sendSignal: 'device_required',
  getIceServers: 'device_required',
  getPushConfig: 'device_required',
  subscribePush: 'device_required',
  registerNativePush: 'device_required',
  listPushSubscriptions: 'device_required',
  removePushSubscription: 'device_required',
  testPush: 'device_required',
};

async function makePair(scope: 'full' | 'guest' = 'full'): Promise<{ own: TestDevice; other: TestDevice }> {
  const user = randomUser();
  const [own, other] = [makeDevice({ user, name: 'Laptop', scope }), makeDevice({ user, name: 'Phone' })];
  for (const device of [own, other]) await device.on(site.one).call('getMe');
  return { own, other };
}

function expectVerdict(answer: WireAnswer, verdict: Verdict | undefined): void {
  if (verdict === 'page') expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  else if (verdict === 'to_app')
    expect({ status: answer.status, to: answer.headers['location'] }).toEqual({ status: 303, to: '/' });
  else if (verdict === 'served') expect(answer.status).toBeLessThan(300);
  else expectProblem(answer, verdict as ErrorCode);
}

describe('a guest', () => {
  test.each(ROUTE_NAMES)('gets from %s what the contract grants it', async (name) => {
    const scene = await makePair('guest');
    const answer = await request(site.two, { ...sampleRequest(name, scene), headers: scene.own.headers });
    expectVerdict(answer, GUEST[name]);
  });

  const onDevices = ROUTE_NAMES.filter((name) => routeOf(name).scope === 'own');

  test.each(onDevices)(
    'may not use %s on another device, also when it does not exist or is another account’s',
    async (name) => {
      const { own, other } = await makePair('guest');
      const foreign = (await makePair()).own;
      const before = await picture(site.redis, site.prefix);
      for (const target of [other, foreign, makeDevice({ user: randomUser() })]) {
        const answer = await request(site.one, {
          ...sampleRequest(name, { own: target, other }),
          headers: own.headers,
        });
        expectProblem(answer, 'guest_forbidden');
      }
      expect(await picture(site.redis, site.prefix, before)).toEqual(before);
    },
  );

  test.each(onDevices)('without a device owns none that %s could act on', async (name) => {
    const { own, other } = await makePair();
    const headers = { 'X-Dev-User': own.user, 'X-Dev-Scope': 'guest' };
    expectProblem(await request(site.one, { ...sampleRequest(name, { own, other }), headers }), 'guest_forbidden');
  });

  test('does not become more by a second session of the same device with full scope', async () => {
    const { own, other } = await makePair();
    await own.on(site.one).call('getMe');
    const headers = { ...own.headers, 'X-Dev-Scope': 'guest' };
    const answer = await request(site.one, { ...sampleRequest('renameDevice', { own: other, other }), headers });
    expectProblem(answer, 'guest_forbidden');
  });
});

describe('a caller without a device', () => {
  test.each(ROUTE_NAMES)('gets from %s what the contract grants it', async (name) => {
    const { own, other } = await makePair();
    const { 'X-Dev-User': user = '' } = own.headers;
    const answer = await request(site.two, { ...sampleRequest(name, { own, other }), headers: { 'X-Dev-User': user } });
    expectVerdict(answer, WITHOUT_DEVICE[name]);
  });

  test('opens the event stream with a name, and with no device name of the account', async () => {
    const { own } = await makePair();
    const headers = { 'X-Dev-User': own.headers['X-Dev-User'] as string };
    const open = (name: string) => request(site.one, { path: `/api/hub/events?name=${name}`, headers });
    expect((await open('Kiosk')).status).toBe(200);
    expectProblem(await open('Laptop'), 'name_taken');
    for (const bad of ['*', '', '%20', 'x'.repeat(33), '%C3%BC', 'a%0Ab'])
      expectProblem(await open(bad), 'invalid_device_name');
  });

  test('has no mailbox to list or acknowledge', async () => {
    const { own } = await makePair();
    const headers = { 'X-Dev-User': own.headers['X-Dev-User'] as string };
    expect((await request(site.one, { path: '/api/message', headers })).body).toEqual({ messages: [] });
    const ack = { method: 'POST', path: '/api/message/ack', headers, body: { message_ids: [uuidv7()] } };
    expect((await request(site.one, ack)).body).toEqual({ acked: 0 });
  });
});

describe('another account', () => {
  test('is told of a device id exactly what it is told of one that does not exist', async () => {
    const { own, other } = await makePair();
    const foreign = (await makePair()).own;
    const missing = makeDevice({ user: randomUser() });
    const shapeOf = (answer: WireAnswer) => ({ ...(answer.body as object), request_id: '' });
    for (const name of ['renameDevice', 'sendMessage'] as const) {
      const [toForeign, toMissing] = await Promise.all(
        [foreign, missing].map((target) => {
          const body = name === 'sendMessage' ? { to_device_id: target.id, content: 'hello' } : { name: 'Mine' };
          const path = name === 'sendMessage' ? '/api/message' : `/api/devices/${target.id}`;
          return request(site.one, { method: routeOf(name).method, path, headers: own.headers, body });
        }),
      );
      expectProblem(toForeign as WireAnswer, 'not_found');
      expect(shapeOf(toForeign as WireAnswer)).toEqual(shapeOf(toMissing as WireAnswer));
    }
    expect((await foreign.on(site.two).call('listMessages')).body.messages).toEqual([]);
    expect((await other.on(site.two).call('listDevices')).body.devices).toHaveLength(2);
  });

  test('cannot acknowledge messages that are not its own', async () => {
    const { own, other } = await makePair();
    const thief = (await makePair()).own;
    const { body: sent } = await own.on(site.one).call('sendMessage', { body: { to: 'Phone', content: 'private' } });
    const taken = await thief.on(site.two).call('ackMessages', { body: { message_ids: [sent.message_id] } });
    expect(taken.body.acked).toBe(0);
    expect((await other.on(site.two).call('listMessages')).body.messages).toMatchObject([{ content: 'private' }]);
  });

  test('sees nothing: not the devices, the presence, the clipboard or the messages', async () => {
    const { own } = await makePair();
    await own.on(site.one).call('setClipboard', { body: { content: 'private', content_type: 'text/plain' } });
    const stranger = makeDevice({ user: randomUser(), name: 'Stranger' }).on(site.one);
    const [devices, presence, clipboard, messages] = await Promise.all([
      stranger.call('listDevices'),
      stranger.call('getPresence'),
      stranger.call('getClipboard'),
      stranger.call('listMessages'),
    ]);
    expect(devices.body.devices.map(({ name }) => name)).toEqual(['Stranger']);
    expect(presence.body.devices.map(({ name }) => name)).toEqual(['Stranger']);
    expect(clipboard.body.content).toBe('');
    expect(messages.body.messages).toEqual([]);
  });

  test('hears nothing on its stream of what goes on next door', async () => {
    const { own } = await makePair();
    const stranger = makeDevice({ user: randomUser(), name: 'Stranger' });
    const stream = site.listen(stranger, site.two);
    await stream.next('ready');
    await own.on(site.one).call('sendMessage', { body: { to: '*', content: 'private' } });
    await own.on(site.one).call('setClipboard', { body: { content: 'private', content_type: 'text/plain' } });
    // The stranger's own message comes after any message of the others.
    await stranger.on(site.one).call('sendMessage', { body: { to: 'Stranger', content: 'to myself' } });
    await stream.next('message');
    expect(stream.events.map(({ name }) => name).filter((name) => name !== 'presence')).toEqual(['ready', 'message']);
    await site.closeStreams();
  });
});

test('public routes are the documents, and the way in', () => {
  expect(ROUTE_NAMES.filter((name) => isPublic(routeOf(name))).sort()).toEqual([
    'getAppFile',
    'getDocs',
    'getHealth',
    'getHome',
    'getIcon',
    'getJoin',
    'getLink',
    'getOpenApi',
    'getReferenceFile',
    'getWorker',
    'logIn',
    'openShare',
    'pollLogin',
    'postShare',
    'refreshSession',
    'startLogin',
  ]);
});
