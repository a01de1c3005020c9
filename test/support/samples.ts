import { type Route, fillPath } from '../../shared/contract/route.ts';
import { ROUTES, type RouteName } from '../../shared/contract/routes.ts';
import type { TestDevice } from './device.ts';
import type { WireRequest } from './wire.ts';

interface Sample {
  params?: Record<string, string>;
  body?: Record<string, unknown>;
}

interface Scene {
  /** Who asks. */
  own: Pick<TestDevice, 'id' | 'name'>;
  /** Another device of the account. */
  other: Pick<TestDevice, 'id' | 'name'>;
}

const NO_TRANSFER = { transfer_id: '01920000-0000-7000-8000-000000000001' };

/**
 * For every route one request that is right; where it needs a transfer, of one that does not exist. A new route has
 * none: the tests that walk the table then fail.
 */
export const SAMPLES: { readonly [N in RouteName]: (scene: Scene) => Sample } = {
  getMe: () => ({}),
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
  initTransfer: ({ other }) => ({ body: { to_device_id: other.id, files: [{ name: 'a.txt', size: 1 }] } }),
  listTransfers: () => ({}),
  getTransfer: () => ({ params: NO_TRANSFER }),
  acceptTransfer: () => ({ params: NO_TRANSFER }),
  rejectTransfer: () => ({ params: NO_TRANSFER }),
  p2pTransfer: () => ({ params: NO_TRANSFER }),
  relayTransfer: () => ({ params: NO_TRANSFER }),
  completeTransfer: () => ({ params: NO_TRANSFER }),
  failTransfer: () => ({ params: NO_TRANSFER, body: {} }),
  cancelTransfer: () => ({ params: NO_TRANSFER, body: {} }),
  phaseTransfer: () => ({ params: NO_TRANSFER, body: { phase: 'transferring' } }),
  sendSignal: ({ other }) => ({ body: { to_device_id: other.id, kind: 'offer', payload: {} } }),
  getIceServers: () => ({}),
  getOpenApi: () => ({}),
  getDocs: () => ({}),
  getHome: () => ({}),
  getHealth: () => ({}),
};

export const ROUTE_NAMES = Object.keys(ROUTES) as RouteName[];

export const routeOf = (name: RouteName): Route => ROUTES[name];

/** The sample of a route as a request, with nothing of an identity. */
export function sampleRequest(name: RouteName, scene: Scene): WireRequest & { method: string } {
  const { method, path } = routeOf(name);
  const { params, body } = SAMPLES[name](scene);
  return { method, path: fillPath(path, params ?? {}), ...(body && { body }) };
}

/** The routes that `match` accepts. */
export const routesWhere = (match: (route: Route) => boolean): RouteName[] =>
  ROUTE_NAMES.filter((name) => match(routeOf(name)));

export const isPublic = (route: Route): boolean => route.identity === 'public';
export const isStream = (route: Route): boolean => route.answers[200] === 'text/event-stream';
