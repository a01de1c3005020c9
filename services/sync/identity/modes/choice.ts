import type { IncomingMessage } from 'node:http';
import type { VerifiedIdentity } from '../../../../shared/contract/modules/broker.ts';
import type { Config } from '../../config/config.ts';
import type { Db } from '../../redis/db.ts';
import { makeAssertionIdentity } from './assertion.ts';
import { type BrokerIdentity, makeBrokerIdentity } from './broker.ts';
import type { Caller } from '../caller.ts';
import { type Shown, sessionCookieName } from '../credentials/credentials.ts';
import { makeDevIdentity } from './dev.ts';
import { makeEdgeIdentity } from './edge.ts';
import type { Identity } from '../identity.ts';
import { type IssuerClock, makeIssuerClock } from '../key-sets/issuer-clock.ts';
import { type KeySet, makeKeySet } from '../key-sets/key-set.ts';
import { makeKeySetStore } from '../key-sets/key-set-store.ts';
import { makeStrangerLimit } from '../credentials/stranger-limit.ts';

interface IdentityParts {
  config: Pick<Config, 'identity' | 'broker' | 'http'>;
  db: Db;
  /** Null without an auth broker. */
  verify: ((shown: Shown) => Promise<VerifiedIdentity>) | null;
  /** The clock of the auth broker. */
  brokerClock: IssuerClock;
  ensureRow: Parameters<typeof makeDevIdentity>[0]['ensureRow'];
  /** Restores the row of a device that signed in. */
  restoreRow: (caller: Caller) => Promise<boolean>;
  /** Returns whether the device was signed out, as far as this replica knows. */
  isRevoked: (account: string, deviceId: string) => boolean;
  /** Resolves to whether the device was signed out, by the store. */
  isTombstoned: (account: string, deviceId: string) => Promise<boolean>;
  clientAddress: (req: IncomingMessage) => string;
  onFailure: (task: string, error: unknown) => void;
}

type ChosenIdentity = Identity & Pick<BrokerIdentity, 'forget' | 'replaced'> & Pick<KeySet, 'start' | 'stop'>;

/**
 * Makes the identity that `APP_IDENTITY` chooses. `forget` drops the earlier answers about a session that ended, `replaced`
 * those about a session that has other secrets now. `start` begins to fetch in the background what the identity needs.
 */
export function makeIdentity(parts: IdentityParts): ChosenIdentity {
  const { config, db, verify, brokerClock, ensureRow, restoreRow, isRevoked, isTombstoned, clientAddress, onFailure } =
    parts;
  const { identity: choice, broker, http } = config;
  const nothing = () => undefined;
  const nothingKept = { forget: nothing, replaced: nothing, start: nothing, stop: nothing };
  const keysAt = (url: string, clock: IssuerClock): KeySet => {
    // Only a secret that the store does not know distinguishes our keys there from anybody's.
    const secret = broker?.token ?? '';
    return makeKeySet({ url, store: secret === '' ? null : makeKeySetStore({ db, url, secret }), clock, onFailure });
  };
  if (choice.mode === 'dev') return { ...makeDevIdentity({ ensureRow, isRevoked }), ...nothingKept };
  if (choice.mode === 'broker') {
    if (broker === null || verify === null) throw new Error('the address of the broker was not checked');
    const keySet = keysAt(`${broker.url}/.well-known/jwks.json`, brokerClock);
    const identity = makeBrokerIdentity({
      verify,
      isRevoked,
      isTombstoned,
      keySet,
      clock: brokerClock,
      clientAddress,
      strangers: makeStrangerLimit({ scale: http.rateLimitScale }),
      app: broker.app,
      cookieName: sessionCookieName(http.publicUrl),
    });
    return { ...identity, restoreRow, start: keySet.start, stop: keySet.stop };
  }
  if (choice.trust === 'secret')
    return { ...makeEdgeIdentity({ secrets: choice.edgeSecrets }), restoreRow, ...nothingKept };
  const clock = makeIssuerClock();
  const keySet = keysAt(choice.jwksUrl, clock);
  const { start, stop } = keySet;
  return { ...makeAssertionIdentity({ ...choice, keySet, clock }), restoreRow, ...nothingKept, start, stop };
}
