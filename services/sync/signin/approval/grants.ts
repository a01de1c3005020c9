import type { BrokerSession, Persist } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { BrokerClient } from '../../sessions/auth-broker/broker-client.ts';
import { isBrokerFault } from '../../sessions/rows/rows.ts';

/** At most so long after its end was chosen, a mint takes effect (CONTRACT.md, "The auth broker"), with the row before it. */
const MINT_MARGIN_MS = 4_000;

/** Who approves: an account's device, or a session without one where `deviceId` is empty. */
export interface Approver {
  user: string;
  account: string;
  deviceId: string;
  /** Its session at the auth broker; empty where the mode of identity does not name it. */
  sessionId: string;
}

/** The most that an approver may grant beside its scope, which is full. */
export interface Grant {
  persist: Persist;
  /** Unix ms at which a session that is not renewed ends at the latest. */
  endsAtMs: number;
}

interface GrantsParts {
  /** Null without an auth broker. */
  broker: Pick<BrokerClient, 'list'> | null;
  isRevoked: (account: string, deviceId: string) => Promise<boolean>;
  /** Whether the device has a row without a session of the broker. */
  isForeign: (account: string, deviceId: string) => Promise<boolean>;
  /** Identity `dev`: callers are what they say. */
  believesCallers: boolean;
}

const EVERYTHING: Grant = { persist: 'persist', endsAtMs: Number.POSITIVE_INFINITY };
/** It is not known how long the approver itself may stay. */
const ONCE: Grant = { persist: 'once', endsAtMs: Number.POSITIVE_INFINITY };

/** The rest of a grant in whole seconds; less than 1: nothing is left. */
export const secondsLeft = ({ endsAtMs }: Grant, nowMs: number): number =>
  Math.floor((endsAtMs - nowMs - MINT_MARGIN_MS) / 1000);

/**
 * What an approver may grant (CONTRACT.md, "Signing in by a code"): at most what it has, as the auth broker lists its
 * session. A session without a device has just logged in and may mint anything for itself, so it may grant anything.
 */
export function makeGrants({ broker, isRevoked, isForeign, believesCallers }: GrantsParts) {
  function grantOf({ deviceId, sessionId }: Approver, listed: BrokerSession[]): Grant | null {
    // An edge does not name a session without a device: then the account must have one.
    const isApprover = ({ meta, session_id: id }: BrokerSession) =>
      meta === deviceId && (deviceId !== '' || sessionId === '' || id === sessionId);
    const own = listed.find((session) => isApprover(session) && session.scope === 'full');
    if (own === undefined) return null;
    return deviceId === '' ? EVERYTHING : { persist: own.persist, endsAtMs: own.expires_at };
  }

  /** Null: it may approve nothing. Throws `broker_unavailable`, `broker_contract`. */
  async function find(approver: Approver): Promise<Grant | null> {
    const { user, account, deviceId } = approver;
    if (deviceId !== '' && (await isRevoked(account, deviceId))) return null;
    const isElsewhere = deviceId === '' ? believesCallers : await isForeign(account, deviceId);
    if (isElsewhere || broker === null) return believesCallers ? EVERYTHING : ONCE;
    return grantOf(approver, await broker.list(user));
  }

  return {
    find,

    /**
     * Checks at the approval; the session is checked again when it is made. Throws `tier_exceeded`, also where the approver's
     * session is not known, and `broker_unavailable`, `broker_contract`.
     */
    async check(approver: Approver, persist: Persist): Promise<void> {
      if (persist === 'once') return;
      const grant = await find(approver);
      if (grant?.persist === 'persist') return;
      throw new BatonError('tier_exceeded', 'A session that is not renewed can only approve others like it');
    },

    /** What the approver may choose from. While the auth broker cannot be asked: what every approver may. */
    async offered(approver: Approver): Promise<Persist[]> {
      const grant = await find(approver).catch((error: unknown) => {
        if (isBrokerFault(error)) return ONCE;
        throw error;
      });
      return grant?.persist === 'persist' ? ['once', 'persist'] : ['once'];
    },
  };
}

export type Grants = ReturnType<typeof makeGrants>;
