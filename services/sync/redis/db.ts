import type { Redis } from '../../../shared/service-kit/redis/connections.ts';
import type { ScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import type { Keys } from './keys.ts';

/** The store of a module uses single commands, scripts, and the registry that builds their keys. */
export interface Db {
  readonly redis: Redis;
  readonly scripts: ScriptLoader;
  readonly keys: Keys;
}
