import type { Kind } from '../../browser/measured-sign-in.ts';

/** Something that is measured in an encrypted account, and in one that is not. */
export interface Compared<Figure extends string> {
  /** Returns rates, of which more is better, and what something costs, of which less is. A figure with a bar is a rate. */
  measure(kind: Kind): Promise<Record<Figure, number>>;
  stop(): Promise<void>;
}
