import { BatonError } from '../../contract/errors.ts';

/** Returns the refusal of a method, with the methods that the path has. */
export const methodNotAllowed = (methods: readonly string[]): BatonError =>
  new BatonError('method_not_allowed', undefined, { headers: { Allow: methods.join(', ') } });
