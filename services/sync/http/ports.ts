import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { VERSION } from '../version.ts';
import { addressText, type RunningServer, startServer } from './server.ts';

interface PortParts {
  config: Config;
  app: RequestListener;
  admin: RequestListener;
  logger: Logger;
}

/** Opens both ports of a replica, or neither, and says where it listens and as what. Rejects as `startServer`. */
export async function openPorts({ config, app, admin, logger }: PortParts) {
  const { host, port, adminPort, publicUrl } = config.http;
  const publicServer = await startServer({ app, host, port });
  const adminServer: RunningServer = await startServer({ app: admin, host, port: adminPort }).catch(
    async (error: unknown) => {
      await publicServer.close(0);
      throw error;
    },
  );
  logger.info(
    {
      listens: addressText(host, publicServer.port),
      admin: addressText(host, adminServer.port),
      publicUrl,
      identity: config.identity.mode,
      redis: config.redis.address.mode,
      relayRedis: config.relay.address.mode,
      version: VERSION,
    },
    'listening',
  );
  return { publicServer, adminServer };
}
