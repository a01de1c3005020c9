import type { BrokerSession, Persist } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { BrokerClient } from '../../sessions/auth-broker/broker-client.ts';
import { isBrokerFault } from '../../sessions/rows/rows.ts';

/** The longest time from the choice of a session's end to its mint (CONTRACT.md, "The auth broker"), with the row. */
const MINT_MARGIN_MS = 4_000;

/** The approver: a device of an account, or a session without a device if `deviceId` is empty. */
export interface Approver {
  user: string;
  account: string;
  deviceId: string;
  /** The approver's session at the auth broker; empty if the identity mode does not name it. */
  sessionId: string;
}

/** The most that an approver may grant besides its scope, which is full. */
export interface Grant {
  persist: Persist;
  /** The latest end of a session that is not renewed, in Unix ms. */
  endsAtMs: number;
}

interface GrantsParts {
  /** Null without an auth broker. */
  broker: Pick<BrokerClient, 'list'> | null;
  isRevoked: (account: string, deviceId: string) => Promise<boolean>;
  /** Resolves to whether the device has a row without a session of the broker. */
  isForeign: (account: string, deviceId: string) => Promise<boolean>;
  /** Whether callers are believed (identity `dev`). */
  believesCallers: boolean;
}

const EVERYTHING: Grant = { persist: 'persist', endsAtMs: Number.POSITIVE_INFINITY };
/** The grant of an approver whose own end is unknown. */
const ONCE: Grant = { persist: 'once', endsAtMs: Number.POSITIVE_INFINITY };

/** Returns what is left of a grant in whole seconds; less than 1 means that nothing is left. */
export const secondsLeft = ({ endsAtMs }: Grant, nowMs: number): number =>
  Math.floor((endsAtMs - nowMs - MINT_MARGIN_MS) / 1000);

/**
 * Makes the rules of what an approver may grant (CONTRACT.md, "Signing in by a code"): at most what its own session has in
 * the auth broker's listing. A session without a device comes from a recent login and may mint anything for itself, so it
 * may grant anything.
 */
export function makeGrants({ broker, isRevoked, isForeign, believesCallers }: GrantsParts) {
  function grantOf({ deviceId, sessionId }: Approver, listed: BrokerSession[]): Grant | null {
    // An edge does not name a session without a device. It is enough then that the account has one.
    const isApprover = ({ meta, session_id: id }: BrokerSession) =>
      meta === deviceId && (deviceId !== '' || sessionId === '' || id === sessionId);
    const own = listed.find((session) => isApprover(session) && session.scope === 'full');
    if (own === undefined) return null;
    return deviceId === '' ? EVERYTHING : { persist: own.persist, endsAtMs: own.expires_at };
  }

  /**
   * Resolves to the grant; null if the approver may approve nothing. Throws `broker_unavailable`, `broker_contract`.
   */
  async function find(approver: Approver): Promise<Grant | null> {
    const { user, account, deviceId } = approver;
    if (deviceId !== '' && (await isRevoked(account, deviceId))) return null;
    const isElsewhere = deviceId === '' ? believesCallers : await isForeign(account, deviceId);
    if (isElsewhere || broker === null) return believesCallers ? EVERYTHING : ONCE;
    return grantOf(approver, await broker.list(user));
  }

  return {
    find,

    /** Resolves to what a device that is signed in has; null if the auth broker lists no session of it. */
    async heldBy(user: string, deviceId: string): Promise<Pick<BrokerSession, 'scope' | 'persist'> | null> {
      const listed = (await broker?.list(user)) ?? [];
      return listed.find(({ meta }) => meta === deviceId) ?? null;
    },

    /**
     * Checks an approval. The grant is checked again when the session is made. Throws `tier_exceeded`, also for an approver
     * without a known session, and `broker_unavailable`, `broker_contract`.
     */
    async check(approver: Approver, persist: Persist): Promise<void> {
      if (persist === 'once') return;
      const grant = await find(approver);
      if (grant?.persist === 'persist') return;
      throw new BatonError('tier_exceeded', 'A session that is not renewed can only approve others like it');
    },

    /**
     * Resolves to the approver's choices. While the auth broker is unreachable, only the choice that all approvers
     * have.
     */
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
