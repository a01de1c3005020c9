import type { OnReadOpts } from 'node:net';
import type { SimulatedSocket } from './socket.ts';
import type { StoreAdapter } from './store-adapter.ts';
import { here, type World } from './world.ts';

const stores = new WeakMap<World, StoreAdapter>();

/** Makes every connection that code of this world opens go to this store. */
export const placeStore = (world: World, store: StoreAdapter): void => void stores.set(world, store);

/** Acts as `net.connect` within a simulation, where the store is the only thing to connect to. */
export function connectToStore({ onread = null }: { onread?: OnReadOpts | null }): SimulatedSocket {
  const at = here();
  const store = at && stores.get(at.world);
  if (at === undefined || store === undefined) throw new Error('there is no store to connect to');
  return store.connect(at.owner, onread);
}
