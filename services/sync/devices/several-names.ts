import { BatonError } from '../../../shared/contract/errors.ts';

/** Explains the `name_taken` of a script that looked for a name: very old rows may differ only in case or spaces. */
export function tellSeveral(error: unknown): never {
  if (!(error instanceof BatonError && error.code === 'name_taken')) throw error;
  const detail = 'Several devices have this name, but for case and spaces: give the exact name, or the id';
  throw new BatonError('name_taken', detail);
}
