import type { IncomingMessage } from 'node:http';
import type { DeviceRef } from '../../../shared/contract/vocabulary/fields.ts';
import { signinRoutes } from '../../../shared/contract/modules/signin.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Caller } from '../identity/caller.ts';
import type { Db } from '../redis/db.ts';
import type { BrokerClient } from '../sessions/auth-broker/broker-client.ts';
import type { SessionsModule } from '../sessions/module.ts';
import { makeClaims } from './polling/claims.ts';
import { makeConsume } from './polling/consume.ts';
import { makeGrants } from './approval/grants.ts';
import { makePolls } from './polling/polls.ts';
import { makeSigninHandlers } from './routes.ts';
import { makeInvites } from './invites.ts';
import { makeSignin } from './signin.ts';
import { makeLoginStore } from './store.ts';

interface SigninModuleParts {
  db: Db;
  /** Null without an auth broker, and then nothing can make a session. */
  broker: BrokerClient | null;
  sessions: SessionsModule;
  settings: {
    qrEnabled: boolean;
    requestSeconds: number;
    onceSeconds: number;
    persistSeconds: number;
    publicUrl: string;
    /** Whether callers are believed (identity `dev`). */
    believesCallers: boolean;
  };
  bus: { channel: () => string; publish: (channel: string, payload: string) => Promise<unknown> };
  /** Resolves to whether the device has a row without a session of the broker. */
  isForeign: (account: string, deviceId: string) => Promise<boolean>;
  /** Resolves to the row of a device; null without one. */
  ownDevice: (device: Pick<Caller, 'account' | 'deviceId'>) => Promise<DeviceRef | null>;
  clientAddress: (req: IncomingMessage) => string;
  metrics: Pick<Metrics, 'login_requests_total'>;
  onFailure: (task: string, error: unknown) => void;
}

export function makeSigninModule(parts: SigninModuleParts) {
  const { db, broker, sessions, settings, bus, isForeign, ownDevice, clientAddress, metrics, onFailure } = parts;
  const store = makeLoginStore(db);
  const { requestSeconds } = settings;
  const invites = makeInvites({ ...db, requestSeconds });
  const polls = makePolls();
  const { schedule, settle, hasStream, nowMs } = sessions.store;
  const claims = makeClaims({
    schedule,
    settle,
    hasStream,
    onFailure,
    remove: sessions.removal.remove,
  });
  const admit = (account: string, issued: Parameters<typeof sessions.rows.write>[1], type: DeviceRef['type']) =>
    sessions.rows.write(account, issued, 'minted', type);
  const isRevoked = (account: string, deviceId: string) => sessions.revocations.isTombstoned(account, deviceId);
  const grants = makeGrants({ broker, isRevoked, isForeign, believesCallers: settings.believesCallers });
  const consume =
    broker &&
    makeConsume({
      store,
      broker,
      onReplaced: (account, deviceId, endsStreams) => sessions.revocations.tellReplaced(account, deviceId, endsStreams),
      kept: sessions.kept,
      isRevoked,
      ownDevice,
      admit,
      grants,
      nowMs,
      expectClaim: claims.expect,
      lifetimes: { once: settings.onceSeconds, persist: settings.persistSeconds },
    });
  const signin = makeSignin({
    store,
    invites,
    polls,
    consume,
    grants,
    channel: bus.channel,
    publish: bus.publish,
    publicUrl: settings.publicUrl,
    requestSeconds,
    ownDevice,
    onFailure,
    onOutcome: (outcome) => metrics.login_requests_total.inc({ outcome }),
  });
  return {
    checkClaim: claims.check,
    use: claims.use,
    wake: polls.wake,
    drain: polls.drain,
    /** Resolves to the requests that wait for a device, as events for its stream. */
    pendingOf: invites.pending,
    handlers: makeSigninHandlers({ signin, cookie: sessions.cookie, clientAddress }),
    /** All routes of this module, if sign-in by a code is switched off. */
    disabledRoutes: settings.qrEnabled ? [] : Object.keys(signinRoutes),
  };
}
