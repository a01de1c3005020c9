export interface ConfigProblem {
  readonly key: string;
  /** The end of the sentence "<key> ...". */
  readonly message: string;
}

/** All problems of the configuration at once, with the unknown keys that may be their cause. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], hints: readonly string[] = []) {
    super([...problems.map(({ key, message }) => `${key} ${message}`), ...hints].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
