import { clipboardRoutes } from './clipboard.ts';
import { deviceRoutes } from './devices.ts';
import { documentRoutes } from './documents.ts';
import { identityRoutes } from './identity.ts';
import { messageRoutes } from './messages.ts';
import { presenceRoutes } from './presence.ts';
import { pushRoutes } from './push.ts';
import { relayRoutes } from './relay.ts';
import { sessionRoutes } from './sessions.ts';
import { signalRoutes } from './signal.ts';
import { signinRoutes } from './signin.ts';
import { streamRoutes } from './stream.ts';
import { transferRoutes } from './transfers.ts';

/** The route table: everything the public port serves. A new module adds its rows here and nowhere else. */
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
  ...transferRoutes,
  ...relayRoutes,
  ...pushRoutes,
  ...documentRoutes,
};

export type RouteName = keyof typeof ROUTES;
