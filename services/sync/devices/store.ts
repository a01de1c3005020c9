import { randomInt } from 'node:crypto';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Operation } from '../http/handler.ts';
import type { Redis } from '../redis/connections.ts';
import { orFault } from '../redis/faults.ts';
import type { PushMode } from '../push/owing.ts';
import type { Keys } from '../redis/keys.ts';
import { rememberSeconds } from '../redis/operations.ts';
import type { ScriptLoader } from '../redis/scripts.ts';
import type { PresenceFields } from './presence-view.ts';
import type { NewDevice } from './row.ts';

interface DeviceStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
  /** Renames a minute per account; null: unlimited. */
  renameLimit: number | null;
}

/** Device rows, and what was last announced of them. */
export function makeDeviceStore({ redis, scripts, keys, renameLimit }: DeviceStoreParts) {
  const readScript = scripts.load('presence-read.lua', import.meta.url);
  const addScript = scripts.load('device-add.lua', import.meta.url);
  const removeScript = scripts.load('device-remove.lua', import.meta.url);
  const renameScript = scripts.load('device-rename.lua', import.meta.url, 'rename');

  return {
    async readPresence(account: string): Promise<PresenceFields> {
      const [devices, states] = (await readScript([keys.devices(account), keys.presence(account)], [])) as [
        string[],
        string[],
      ];
      return { devices, states };
    },

    async findRow(account: string, deviceId: string): Promise<string | null> {
      return await orFault(redis.hget(keys.devices(account), deviceId));
    },

    /** Resolves to the row; a taken name gets a suffix. Null: the account has to be noted first. Throws `device_limit`. */
    async add(u: string, { deviceId, name, type, mode, session }: NewDevice, pushes: PushMode) {
      const [row, , facts] = await addScript(
        [keys.devices(u), keys.routes(u), keys.log(u), keys.presence(u), keys.due(u), keys.push(u)],
        [
          ...[deviceId, name, type, randomInt(0, 2 ** 32), LIMITS.devicesPerAccount, mode],
          ...[session?.id ?? '', session?.endsAtMs ?? 0, pushes],
        ],
      );
      return row === '' ? null : { row: row as string, facts: facts as string[] };
    },

    /** Removes a device and what waits for it; with `row` only while that is its row. False: it had none, or another. */
    async remove(u: string, deviceId: string, row = ''): Promise<boolean> {
      const [removed] = await removeScript(
        [
          ...[keys.devices(u), keys.routes(u), keys.log(u), keys.presence(u), keys.mail(u), keys.inbox(u)],
          keys.due(u),
          keys.push(u),
        ],
        [deviceId, randomInt(0, 2 ** 32), row],
      );
      return removed === '1';
    },

    /** Resolves to the new row and its announced state. Throws `device_required`, `not_found`, `name_taken`, `rate_limited`. */
    async rename(
      account: string,
      {
        callerId,
        deviceId,
        name,
        operation,
      }: { callerId: string; deviceId: string; name: string; operation: Operation },
    ): Promise<{ row: string; state: string }> {
      const [row, state] = await renameScript(
        [
          ...[keys.devices(account), keys.routes(account), keys.log(account), keys.presence(account)],
          ...[keys.operation(account, callerId, operation.id), keys.rate(account, 'rename', null)],
        ],
        [
          ...[callerId, deviceId, name, randomInt(0, 2 ** 32), operation.fingerprint, rememberSeconds(operation)],
          renameLimit ?? 0,
        ],
      );
      return { row: row as string, state: state as string };
    },
  };
}

export type DeviceStore = ReturnType<typeof makeDeviceStore>;
