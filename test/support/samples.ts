import { type Route, fillPath } from '../../shared/contract/vocabulary/route.ts';
import { ROUTES, type RouteName } from '../../shared/contract/routes.ts';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import { makeDevice, randomUser, type TestDevice } from './device.ts';
import { expectProblem, type WireAnswer, type WireRequest } from './wire.ts';

/** A point of P-256. */
const POINT = 'BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU';

/** Nobody checks the proof for an account without keys. */
const PROOF = { device_id: 'nobody', n: 1, signature: 'A'.repeat(86) };

interface Sample {
  params?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Record<string, unknown>;
  /** A body that is sent as a browser sends a form. */
  form?: Record<string, string>;
  /** The status of a page that is shown instead of a problem document. */
  page?: number;
  /** The code of the response to a correct request that names something that does not exist. */
  code?: ErrorCode;
}

interface Scene {
  /** The device that sends the request. */
  own: Pick<TestDevice, 'id' | 'name'>;
  /** Another device of the account. */
  other: Pick<TestDevice, 'id' | 'name'>;
}

const onNoTransfer = (body?: Record<string, unknown>): Sample => ({
  params: { transfer_id: '01920000-0000-7000-8000-000000000001' },
  ...(body && { body }),
  code: 'not_found',
});

const onNoFile = (headers?: Record<string, string>, body?: Record<string, unknown>): Sample => ({
  params: { transfer_id: '01920000-0000-7000-8000-000000000001', index: '0', generation: '0' },
  ...(headers && { headers }),
  ...(body && { body }),
  code: 'not_found',
});

/** Has one correct request for every route. A new route has none, and the tests that walk the table then fail. */
export const SAMPLES: { readonly [N in RouteName]: (scene: Scene) => Sample } = {
  getMe: () => ({}),
  startLogin: () => ({ body: { device_name: 'Phone', device_type: 'ios' } }),
  inviteLogin: () => ({}),
  relinkLogin: () => ({ body: { keys: { enc: POINT, sig: POINT } } }),
  pollLogin: () => ({
    query: { request_id: 'A'.repeat(22), wait_ms: '0' },
    code: 'poll_secret_required',
  }),
  readLogin: () => ({ query: { request_id: 'A'.repeat(22), approval_code: 'A'.repeat(22) }, code: 'not_found' }),
  approveLogin: () => ({
    body: { request_id: 'A'.repeat(22), approval_code: 'A'.repeat(22), scope: 'full', persist: 'once' },
    code: 'not_found',
  }),
  denyLogin: () => ({ body: { request_id: 'A'.repeat(22) }, code: 'not_found' }),
  openLink: () => ({ query: { r: 'A'.repeat(22), c: 'A'.repeat(22) }, page: 404 }),
  decideLink: () => ({
    form: { request_id: 'A'.repeat(22), approval_code: 'A'.repeat(22), decision: 'deny' },
    page: 404,
  }),
  logIn: () => ({ code: 'broker_unavailable' }),
  startDeviceSession: ({ own }) => ({
    body: { device_id: own.id, device_name: own.name, device_type: 'browser' },
    code: 'broker_unavailable',
  }),
  refreshSession: () => ({ body: { credential: 'v1.none.none' }, code: 'broker_unavailable' }),
  logOut: () => ({}),
  listSessions: () => ({}),
  removeSession: () => ({ params: { device_id: 'nobodys-device' } }),
  removeDevice: () => ({ params: { device_id: 'nobodys-device' } }),
  removeOtherSessions: () => ({}),
  eraseAccount: () => ({ body: { ...PROOF } }),
  listDevices: () => ({}),
  renameDevice: ({ own }) => ({ params: { device_id: own.id }, body: { name: own.name } }),
  openStream: () => ({}),
  getPresence: () => ({}),
  sendMessage: ({ other }) => ({ body: { to_device_id: other.id, content: 'hello' } }),
  listMessages: () => ({}),
  ackMessages: () => ({ body: { message_ids: ['01920000-0000-7000-8000-000000000000'] } }),
  getClipboard: () => ({}),
  setClipboard: () => ({ body: { content: 'text', content_type: 'text/plain' } }),
  clearClipboard: () => ({}),
  getKeys: () => ({ code: 'not_found' }),
  putKeys: () => ({
    headers: { 'If-Match': '"0"' },
    // This ring is invalid, because the maker of a ring must sign it.
    body: { ring: `${Buffer.from('{}').toString('base64url')}.${'A'.repeat(86)}` },
    code: 'invalid_request',
  }),
  putGuests: () => ({
    body: { guests: `${Buffer.from('{"n":0,"guests":[]}').toString('base64url')}.${'A'.repeat(86)}` },
    code: 'not_found',
  }),
  deleteKeys: () => ({ body: { ...PROOF } }),
  keepKeys: () => ({ body: { ...PROOF }, code: 'not_found' }),
  initTransfer: ({ other }) => ({ body: { to_device_id: other.id, files: [{ name: 'a.txt', size: 1 }] } }),
  listTransfers: () => ({}),
  getTransfer: () => onNoTransfer(),
  acceptTransfer: () => onNoTransfer(),
  rejectTransfer: () => onNoTransfer(),
  p2pTransfer: () => onNoTransfer(),
  relayTransfer: () => onNoTransfer(),
  completeTransfer: () => onNoTransfer(),
  failTransfer: () => onNoTransfer({ reason: 'out_of_space' }),
  cancelTransfer: () => onNoTransfer({ reason: 'changed' }),
  phaseTransfer: () => onNoTransfer({ phase: 'transferring' }),
  headUpload: () => onNoFile(),
  appendUpload: () => onNoFile({ 'Content-Type': 'application/partial-upload', 'Upload-Offset': '0' }),
  download: () => onNoFile(),
  ackDownload: () => onNoFile(undefined, { received_bytes: 0 }),
  sendSignal: ({ other }) => ({ body: { to_device_id: other.id, kind: 'offer', payload: {} } }),
  getIceServers: () => ({}),
  getPushConfig: () => ({}),
  subscribePush: () => ({
    body: {
      endpoint: 'https://fcm.googleapis.com/fcm/send/sample',
      keys: {
        // From RFC 8291, appendix A.
        p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        auth: 'BTBZMqHH6r4Tts7J_aSIgg',
      },
    },
  }),
  registerNativePush: () => ({ body: { platform: 'fcm', token: 'sample' }, code: 'feature_disabled' }),
  listPushSubscriptions: () => ({}),
  removePushSubscription: () => ({
    params: { subscription_id: '01920000-0000-7000-8000-000000000002' },
    code: 'not_found',
  }),
  testPush: () => ({ code: 'not_found' }),
  getOpenApi: () => ({}),
  getDocs: () => ({}),
  getReferenceFile: () => ({ params: { file: 'none.js' }, code: 'not_found' }),
  getHome: () => ({}),
  getLink: () => ({}),
  getJoin: () => ({}),
  getAppFile: () => ({ params: { file: 'none.js' }, code: 'not_found' }),
  getWorker: () => ({}),
  openShare: () => ({}),
  postShare: () => ({}),
  getIcon: () => ({}),
  getHealth: () => ({}),
};

/**
 * Routes that remove the sender or the other devices of its account, count against the account, or send pushes to it.
 * Walks over all routes send these from another account.
 */
const SPENDING: readonly RouteName[] = [
  ...(['logOut', 'removeOtherSessions', 'eraseAccount'] as const),
  ...(['readLogin', 'approveLogin', 'openLink', 'decideLink'] as const),
  'subscribePush',
];

/** Returns the sender of a route's sample, so that the devices of a scene outlive it. */
export const senderOf = (name: RouteName, own: TestDevice): TestDevice =>
  SPENDING.includes(name) ? makeDevice({ user: randomUser() }) : own;

export const ROUTE_NAMES = Object.keys(ROUTES) as RouteName[];

export const routeOf = (name: RouteName): Route => ROUTES[name];

/** Returns the sample of a route as a request without any identity. */
export function sampleRequest(name: RouteName, scene: Scene): WireRequest & { method: string } {
  const { method, path } = routeOf(name);
  const { params, query, headers, body, form } = SAMPLES[name](scene);
  const search = query ? `?${new URLSearchParams(query)}` : '';
  return {
    method,
    path: fillPath(path, params ?? {}) + search,
    ...(headers && { headers }),
    ...(body && { body }),
    ...(form && { form }),
  };
}

/** Expects the response that the sample of a route gets when nothing prevents it. */
export function expectRight(name: RouteName, answer: WireAnswer, scene: Scene): void {
  const { code, page } = SAMPLES[name](scene);
  if (page) expect(answer.status).toBe(page);
  else if (code) expectProblem(answer, code);
  else expect(answer.status).toBeLessThan(400);
}

/** Returns the routes that `match` accepts. */
export const routesWhere = (match: (route: Route) => boolean): RouteName[] =>
  ROUTE_NAMES.filter((name) => match(routeOf(name)));

/** Whether a route refuses a caller without a session. A page sends such a caller to the login instead. */
export const refusesStrangers = ({ identity, loginRedirect, method }: Route): boolean =>
  identity === 'caller' && !(loginRedirect && method === 'GET');
export const isPublic = (route: Route): boolean => route.identity === 'public';
export const isStream = (route: Route): boolean => route.answers[200] === 'text/event-stream';
