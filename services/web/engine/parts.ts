import type { BatonClient } from '../../../shared/client/index.ts';
import type { History } from '../history/history.ts';
import type { Queue } from '../outbox/queue.ts';
import type { Readiness } from '../outbox/readiness.ts';
import type { SignedIn } from '../session/entry.ts';
import type { Tabs } from './tabs.ts';

/** What a signed-in tab has. The stream and the files are those of the leading tab. */
export interface Parts {
  entry: SignedIn;
  client: BatonClient;
  history: History;
  /** What is to be sent and was not answered yet. */
  queue: Queue;
  readiness: Readiness;
  tabs: Tabs;
}
