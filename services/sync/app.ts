import type { Logger } from 'pino';
import { parseTrustedRoots } from '../../shared/service-kit/trusted-roots.ts';
import { makeAccounts } from './composition/accounts.ts';
import { connectEvents } from './composition/events.ts';
import { openHttp } from './composition/http.ts';
import { makeModules } from './composition/modules.ts';
import { makeHost } from './composition/host.ts';
import { makeStoreAndBus } from './composition/store-and-bus.ts';
import { makeStreams } from './composition/streams.ts';
import type { Config } from './config/config.ts';
import { makeShutdown } from './shutdown.ts';

export interface App {
  readonly logger: Logger;
  readonly port: number;
  readonly adminPort: number;
  /** Drains and stops the replica. Resolves when nothing is left. Repeated calls share one stop. */
  stop(): Promise<void>;
}

/** Builds one replica from its configuration and starts it. Everything is constructed and wired in `composition/`. */
export async function startApp(config: Config): Promise<App> {
  const host = makeHost(config);
  const shutdown = makeShutdown(host);
  const storeAndBus = makeStoreAndBus(host);
  const modules = makeModules(host, storeAndBus);
  const accounts = makeAccounts(host, storeAndBus, modules);
  const streams = makeStreams(host, storeAndBus, modules, accounts);
  connectEvents(host, storeAndBus, modules, accounts, streams);

  const { store, bus, replica } = storeAndBus;
  const { clipboard, keyring, transfers, push, relay, due } = modules;
  const { sessions, signin, identity, broker } = accounts;
  const { hub, reaper } = streams;
  const dueSweeper = due.makeSweeper({
    clipboard: clipboard.expire,
    keys: (account, job) => keyring.runDue(account, job, sessions.eraseDue),
    transfer: transfers.expire,
    revoke: sessions.removal.resume,
    session: sessions.rows.expire,
    claim: signin.checkClaim,
    push: push.resume,
  });

  parseTrustedRoots();
  const { isDraining } = shutdown;
  const ports = await openHttp({ host, storeAndBus, modules, accounts, streams, isDraining });
  const connected = store.connect();
  relay.bulk.connect();
  const started = replica.startWhenItCan(shutdown.isStopping, connected);
  for (const part of [identity, hub, dueSweeper]) part.start();
  broker?.start();
  return {
    logger: host.logger,
    port: ports.publicServer.port,
    adminPort: ports.adminServer.port,
    stop: () =>
      shutdown.end({
        signin,
        hub,
        relay,
        identity,
        bus,
        started,
        replica,
        store,
        broker,
        workers: [transfers, dueSweeper, push, reaper],
        ports,
      }),
  };
}
