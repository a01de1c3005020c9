import type { VerifiedIdentity } from '../../../shared/contract/broker.ts';
import type { Config } from '../config.ts';
import { makeAssertionIdentity } from './assertion.ts';
import { type BrokerIdentity, makeBrokerIdentity } from './broker.ts';
import type { Caller } from './caller.ts';
import { type Shown, sessionCookieName } from './credentials.ts';
import { makeDevIdentity } from './dev.ts';
import { makeEdgeIdentity } from './edge.ts';
import type { Identity } from './identity.ts';
import { makeKeySet } from './key-set.ts';

interface IdentityParts {
  config: Pick<Config, 'identity' | 'broker' | 'http'>;
  /** Null without an auth broker. */
  verify: ((shown: Shown) => Promise<VerifiedIdentity>) | null;
  ensureRow: Parameters<typeof makeDevIdentity>[0]['ensureRow'];
  /** Puts back the row of a device that signed in. */
  restoreRow: (caller: Caller) => Promise<boolean>;
  /** Whether the device was signed out, as far as this replica has heard. */
  isRevoked: (account: string, deviceId: string) => boolean;
  onFailure: (task: string, error: unknown) => void;
}

/** The identity that `APP_IDENTITY` chose. `forget`: a session ended, nothing said of it before may be believed. */
export function makeIdentity(parts: IdentityParts): Identity & Pick<BrokerIdentity, 'forget'> {
  const { config, verify, ensureRow, restoreRow, isRevoked, onFailure } = parts;
  const { identity: choice, broker, http } = config;
  const nothingKept = { forget: () => undefined };
  if (choice.mode === 'dev') return { ...makeDevIdentity({ ensureRow, isRevoked }), ...nothingKept };
  if (choice.mode === 'broker') {
    if (broker === null || verify === null) throw new Error('the address of the broker was not checked');
    const identity = makeBrokerIdentity({
      ...{ verify, isRevoked },
      keySet: makeKeySet({ url: `${broker.url}/.well-known/jwks.json`, onFailure }),
      app: broker.app,
      cookieName: sessionCookieName(http.publicUrl),
    });
    return { ...identity, restoreRow };
  }
  const identity =
    choice.trust === 'secret'
      ? makeEdgeIdentity({ secrets: choice.edgeSecrets })
      : makeAssertionIdentity({ ...choice, keySet: makeKeySet({ url: choice.jwksUrl, onFailure }) });
  return { ...identity, restoreRow, ...nothingKept };
}
