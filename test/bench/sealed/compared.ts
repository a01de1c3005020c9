import type { Kind } from '../../browser/measured-sign-in.ts';

/** Something that is measured in an encrypted account, and in one that is not. */
export interface Compared<Figure extends string> {
  /** Returns rates: the more, the better. */
  measure(kind: Kind): Promise<Record<Figure, number>>;
  stop(): Promise<void>;
}
