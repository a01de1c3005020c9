import type { TSchema } from 'typebox';

/** One row of the event catalogue (CONTRACT.md, "Events"). */
export interface EventSpec {
  summary: string;
  data: TSchema;
  /** `always`: the id is the event's log position. `sometimes`: as the summary says. `never`: not resumable. */
  id: 'always' | 'sometimes' | 'never';
}

export const event = <const E extends EventSpec>(spec: E): E => spec;
