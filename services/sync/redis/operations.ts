import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Operation } from '../../../shared/service-kit/operation.ts';

/** How long the answer to an operation without a key is kept when replicas of Redis have to confirm it. */
const CONFIRMED_SECONDS = 60;

/**
 * Returns the seconds for which a script keeps the operation's answer; 0 for not at all. Without a client's key only
 * the script loader sends the call again, and the script finds in the log what it did (`prelude/operation.lua`).
 */
export const rememberSeconds = ({ keyed }: Operation, isConfirmed = false): number =>
  keyed ? LIMITS.idempotencySeconds : isConfirmed ? CONFIRMED_SECONDS : 0;
