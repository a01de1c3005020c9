import { BatonError } from '../../../../shared/contract/errors.ts';
import type { RelayStore } from '../store.ts';

export const replaced = (): BatonError =>
  new BatonError('upload_gone', 'Another request sends this file now, or it has ended');

/**
 * Returns the error for a chunk that the store refused: another sender was faster, there is no memory, or there is no
 * store.
 */
export function meaningOf(error: unknown, store: RelayStore): Error {
  const text = error instanceof Error ? error.message : '';
  if (text.startsWith('ERR The ID specified in XADD')) return replaced();
  if (text.includes('OOM ')) return new BatonError('relay_busy', undefined, { retryAfterSeconds: 5 });
  return store.fault(error);
}
