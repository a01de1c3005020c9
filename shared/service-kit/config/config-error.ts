export interface ConfigProblem {
  readonly key: string;
  /** The end of the sentence "<key> ...". */
  readonly message: string;
}

/** Everything that is wrong with the configuration, at once; and what may be the reason: keys that are not known. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], hints: readonly string[] = []) {
    super([...problems.map(({ key, message }) => `${key} ${message}`), ...hints].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
