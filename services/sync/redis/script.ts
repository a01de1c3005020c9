import { scriptsIn as scriptsInModule } from '../../../shared/service-kit/redis/scripts/script.ts';
import { BUS } from './bus/payloads.ts';

/** Declares the Lua scripts of a module of the replica, which may name the words of the bus as `BUS.<name>`. */
export const scriptsIn = (moduleUrl: string) => scriptsInModule(moduleUrl, { BUS });
