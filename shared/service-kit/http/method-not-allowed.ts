import { BatonError } from '../../contract/errors.ts';

/** The refusal of a method, with those that the path has. */
export const methodNotAllowed = (methods: readonly string[]): BatonError =>
  new BatonError('method_not_allowed', undefined, { headers: { Allow: methods.join(', ') } });
