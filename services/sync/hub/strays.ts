import type { Sweeper } from './sweeper.ts';
import type { LocalStreams } from './local-streams.ts';
import type { Replica } from './replica.ts';
import type { HubStore } from './store.ts';
import type { Transitions } from './transitions.ts';

interface StraysParts {
  store: HubStore;
  streams: LocalStreams;
  sweeper: Sweeper;
  replica: Replica;
  onTransitions: (counts: Transitions) => void;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Gives the function for when this replica is rung for an account of which no stream is here: a route of ours outlived
 * its stream (the tail that removed it was lost), so our rows there are dropped.
 */
export function makeStrays({ store, streams, sweeper, replica, onTransitions, onFailure }: StraysParts) {
  const looking = new Set<string>();

  return (account: string): void => {
    // One that is just leaving still has its grace.
    if (looking.has(account) || streams.isLeaving(account)) return;
    looking.add(account);
    store
      .look(account, replica.channel)
      .then(({ transitions }) => {
        onTransitions(transitions);
        for (const stream of streams.find(account)?.streams ?? []) sweeper.attachSoon(stream);
      })
      .catch((error: unknown) => onFailure('stray', error))
      .finally(() => looking.delete(account));
  };
}
