import { scriptsThatName } from '../../../shared/service-kit/redis/scripts/script.ts';
import { BUS } from './bus/payloads.ts';

/** Declares a Lua script of the replica, which may name the words of the bus as `BUS.<name>`. */
export const defineScript = scriptsThatName({ BUS });
