import type { BatonClient } from '../../../shared/client/index.ts';
import type { History } from '../history/history.ts';
import type { Queue } from '../outbox/queue.ts';
import type { Readiness } from '../outbox/readiness.ts';
import type { Gate } from '../sealing/gate.ts';
import type { SignedIn } from '../session/entry.ts';
import type { Tabs } from './tabs.ts';

/** The parts of a tab that is signed in. The leading tab has the stream and the files. */
export interface Parts {
  entry: SignedIn;
  client: BatonClient;
  history: History;
  /** The way to the keys of this browser. */
  keys: Gate;
  /** Items to send that have no response yet. */
  queue: Queue;
  readiness: Readiness;
  tabs: Tabs;
}
