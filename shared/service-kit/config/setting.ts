import type { Kind } from './kinds.ts';

/** One row of the table of a service's settings. */
export interface Setting<T> {
  kind: Kind<T>;
  /** The text that stands in for an absent one. */
  default?: string;
  /** What the documentation says instead, where the default depends on other settings. */
  defaultSays?: string;
  meaning: string;
  /** Never printed, not even when it is malformed. */
  secret?: true;
}

/** A row whose type keeps whether it has a default. */
export const setting = <T, const S extends Omit<Setting<T>, 'kind'>>(
  kind: Kind<T>,
  rest: S,
): { kind: Kind<T> } & S => ({
  kind,
  ...rest,
});
