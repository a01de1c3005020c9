import type { BatonClient } from '../../../shared/client/index.ts';
import type { History } from '../history/history.ts';
import type { Entry } from '../session/entry.ts';
import type { Tabs } from './tabs.ts';

export type SignedIn = Extract<Entry, { kind: 'in' }>;

/** What a signed-in tab has. The stream and the files are those of the leading tab. */
export interface Parts {
  entry: SignedIn;
  client: BatonClient;
  history: History;
  tabs: Tabs;
}
