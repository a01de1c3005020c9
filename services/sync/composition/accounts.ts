import type { Config } from '../config/config.ts';
import { makeIssuerClock } from '../identity/key-sets/issuer-clock.ts';
import { makeIdentity } from '../identity/modes/choice.ts';
import { makeClientAddress } from '../identity/client-address.ts';
import { makeBrokerClient } from '../sessions/auth-broker/broker-client.ts';
import { makeSessionsModule } from '../sessions/module.ts';
import { makeSigninModule } from '../signin/module.ts';
import { makeLate } from './late.ts';
import type { Modules } from './modules.ts';
import type { Host } from './host.ts';
import type { StoreAndBus } from './store-and-bus.ts';

type SessionsParts = Parameters<typeof makeSessionsModule>[0];

/** Callbacks of sessions, for parts that are made later. */
interface SessionListener extends Pick<SessionsParts, 'onRevoked' | 'onReplaced' | 'onShown'> {
  onEnded: Parameters<typeof makeBrokerClient>[0]['onEnded'];
}

const settingsOf = ({ signin, http: { publicUrl }, identity: { mode } }: Config) => ({
  ...{ ...signin, publicUrl },
  believesCallers: mode === 'dev',
});

/** Makes everything that identifies callers: sessions of the auth broker, sign-in by QR code, identities. */
export function makeAccounts(
  { config, logger, metrics, onFailure }: Host,
  { store, db, replica }: StoreAndBus,
  { devices, transfers, push, due, keyring }: Modules,
) {
  const sessionListener = makeLate<SessionListener>('what listens to sessions');
  const onEnded: SessionListener['onEnded'] = (session) => sessionListener.get().onEnded(session);
  const brokerClock = makeIssuerClock();
  const broker =
    config.broker && makeBrokerClient({ ...config.broker, metrics, logger, onEnded, onAnswered: brokerClock.observe });
  if (broker === null) metrics.broker_up.set(1);
  const settings = settingsOf(config);
  const sessions = makeSessionsModule({
    db,
    broker,
    devices,
    settings,
    bus: { channels: () => replica.detector.channels(), publish: store.publish, repeat: store.repeat },
    onRevoked: (...revoked) => sessionListener.get().onRevoked(...revoked),
    onReplaced: (...replaced) => sessionListener.get().onReplaced(...replaced),
    onRemoved: [transfers.cancelAllOf, push.dropDevice],
    eraseTransfers: transfers.eraseAll,
    onErased: [push.dropAccount, keyring.dropErased],
    allowErase: keyring.allowErase,
    onShown: (device) => sessionListener.get().onShown(device),
    scheduleDue: due.schedule,
    onFailure,
  });
  const { revocations } = sessions;
  const isRevoked = (account: string, deviceId: string) => revocations.isRevoked(account, deviceId);
  const clientAddress = makeClientAddress({ trustedProxies: config.http.trustedProxies });
  const signin = makeSigninModule({
    db,
    broker,
    sessions,
    settings,
    bus: { channel: () => replica.channel, publish: store.publish },
    isForeign: devices.isForeign,
    ownDevice: devices.own,
    clientAddress,
    metrics,
    onFailure,
  });
  const identity = makeIdentity({
    config,
    isRevoked,
    isTombstoned: (account, deviceId) => revocations.isTombstoned(account, deviceId),
    clientAddress,
    brokerClock,
    verify: broker && broker.verify,
    db,
    ensureRow: devices.ensureRow,
    restoreRow: sessions.rows.restore,
    onFailure,
  });
  return { sessionListener, broker, sessions, isRevoked, clientAddress, signin, identity };
}

export type Accounts = ReturnType<typeof makeAccounts>;
