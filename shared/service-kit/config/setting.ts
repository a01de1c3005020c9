import type { Kind } from './kinds.ts';

/** A row of the table of a service's settings. */
export interface Setting<T> {
  kind: Kind<T>;
  /** The text that replaces an absent one. */
  default?: string;
  /** The default for the documentation, if it depends on other settings. */
  defaultSays?: string;
  meaning: string;
  /** Whether the value is never printed, not even if it is malformed. */
  secret?: true;
}

/** Makes a row whose type records whether it has a default. */
export const setting = <T, const S extends Omit<Setting<T>, 'kind'>>(
  kind: Kind<T>,
  rest: S,
): { kind: Kind<T> } & S => ({
  kind,
  ...rest,
});
