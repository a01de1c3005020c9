import { clipboardRoutes } from './modules/clipboard.ts';
import { deviceRoutes } from './modules/devices.ts';
import { documentRoutes } from './modules/documents.ts';
import { identityRoutes } from './modules/identity.ts';
import { keysRoutes } from './modules/keys.ts';
import { messageRoutes } from './modules/messages.ts';
import { presenceRoutes } from './modules/presence.ts';
import { pushRoutes } from './modules/push.ts';
import { relayRoutes } from './modules/relay.ts';
import { sessionRoutes } from './modules/sessions.ts';
import { signalRoutes } from './modules/signal.ts';
import { signinRoutes } from './modules/signin.ts';
import { streamRoutes } from './modules/stream.ts';
import { transferRoutes } from './modules/transfers.ts';
import type { Route } from './vocabulary/route.ts';

/** The route table: everything that the public port serves. A new module adds its rows here, and to the list of modules. */
export const ROUTES = {
  ...identityRoutes,
  ...signinRoutes,
  ...sessionRoutes,
  ...deviceRoutes,
  ...streamRoutes,
  ...presenceRoutes,
  ...signalRoutes,
  ...messageRoutes,
  ...clipboardRoutes,
  ...keysRoutes,
  ...transferRoutes,
  ...relayRoutes,
  ...pushRoutes,
  ...documentRoutes,
};

/** The rows of each module. */
export const MODULES: readonly Readonly<Record<string, Route>>[] = [
  messageRoutes,
  streamRoutes,
  presenceRoutes,
  signalRoutes,
  clipboardRoutes,
  keysRoutes,
  transferRoutes,
  relayRoutes,
  deviceRoutes,
  identityRoutes,
  sessionRoutes,
  signinRoutes,
  pushRoutes,
  documentRoutes,
];

export type RouteName = keyof typeof ROUTES;
