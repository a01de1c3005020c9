import { LIMITS } from '../../contract/limits.ts';

/** The limits that sealing knows. In the package they are loaded with it, as its routes are. */
export const SEALING_LIMITS: Pick<typeof LIMITS, 'rings' | 'ringsBytes' | 'mailboxSeconds'> = LIMITS;
