import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Operation } from '../../../shared/service-kit/operation.ts';

/** How long the answer to an operation without a key is kept where replicas of the store are asked whether they have it. */
const CONFIRMED_SECONDS = 60;

/**
 * Seconds for which a script keeps the operation's answer; 0: not at all. Without a client's key only the script
 * loader sends it again, and the script finds what it did by the log (`prelude/operation.lua`).
 */
export const rememberSeconds = ({ keyed }: Operation, isConfirmed = false): number =>
  keyed ? LIMITS.idempotencySeconds : isConfirmed ? CONFIRMED_SECONDS : 0;
