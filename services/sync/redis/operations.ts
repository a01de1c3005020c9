import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Operation } from '../../server/operation.ts';

/**
 * How long an unkeyed operation is remembered: only the Redis client's own resend can repeat it, and that comes within
 * seconds of a reconnect. (With 600 s for all, a replica at 1,000 messages a second would keep 600,000 keys.)
 */
const UNKEYED_SECONDS = 60;

/** Seconds for which the script remembers the operation's answer. */
export const rememberSeconds = ({ keyed }: Operation): number => (keyed ? LIMITS.idempotencySeconds : UNKEYED_SECONDS);
