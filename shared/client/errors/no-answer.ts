/**
 * No response came: the connection could not be made or broke, or the time was over. Whether the request had an effect is
 * unknown. `cause` is the error of the platform.
 */
export class NoAnswerError extends Error {
  readonly reason: 'network' | 'timeout';

  constructor(reason: 'network' | 'timeout', cause: unknown) {
    super(reason === 'timeout' ? 'The service did not answer in time' : 'The service cannot be reached', { cause });
    this.name = 'NoAnswerError';
    this.reason = reason;
  }
}
