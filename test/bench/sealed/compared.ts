import type { Kind } from '../../browser/measured-sign-in.ts';

/** Something that is measured in an encrypted account and in an unencrypted one. */
export interface Compared<Figure extends string> {
  /** Returns rates, where more is better, and costs, where less is. A figure with a bar is a rate. */
  measure(kind: Kind): Promise<Record<Figure, number>>;
  stop(): Promise<void>;
}
