import type { RemovedReason } from '../../../shared/contract/modules/sessions.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { PushQueue } from '../push/push-queue.ts';
import type { Db } from '../redis/db.ts';
import type { PresenceFields } from '../presence/presence-view.ts';
import type { NewDevice } from './row.ts';
import { deviceAdd, deviceKeep, deviceRemove, deviceRename } from './scripts.ts';

interface DeviceStoreParts extends Db {
  /** Reads the rows, and what was last announced of them. */
  readPresence: (account: string) => Promise<PresenceFields>;
  pushQueue: PushQueue;
}

export function makeDeviceStore({ redis, scripts, keys, readPresence, pushQueue }: DeviceStoreParts) {
  const addScript = pushQueue.enqueuing(scripts.define(deviceAdd));
  const keepScript = scripts.define(deviceKeep);
  const removeScript = scripts.define(deviceRemove);
  const renameScript = scripts.define(deviceRename);

  return {
    readPresence,

    async findRow(account: string, deviceId: string): Promise<string | null> {
      return await orFault(redis, () => redis.hget(keys.devices(account), deviceId));
    },

    /** Adds or changes a row, and resolves to it. A taken name gets a suffix. Throws `device_limit`. */
    async add(u: string, { deviceId, name, type, mode, session }: NewDevice): Promise<string> {
      const args = {
        device: deviceId,
        wanted: name,
        wantedKind: type,
        mode,
        session: session?.id ?? '',
        sessionEnd: session?.endsAtMs ?? 0,
      };
      // A row that is put back pushes nothing.
      if (mode === 'kept') return (await keepScript(keys.inAccount(u), { ...args, pushes: 'off' })).row;
      return (await addScript(keys.inAccount(u), (pushes) => ({ ...args, pushes }))).row;
    },

    /** Removes a device with its mailbox and registrations; with `row`, only while that is its row. False: it is not. */
    async remove(u: string, deviceId: string, reason: RemovedReason, row = ''): Promise<boolean> {
      const { removed } = await removeScript(keys.inAccount(u), { device: deviceId, expected: row, reason });
      return removed;
    },

    /** Resolves to the new row and its state. Throws `device_required`, `not_found`, `name_taken`, `rate_limited`. */
    rename: (account: string, asked: { caller: string; device: string; name: string }) =>
      renameScript(
        keys.inAccount(account, {
          operation: keys.call(account, asked.caller),
          rate: keys.rate(account, 'rename', null),
        }),
        asked,
      ),
  };
}

export type DeviceStore = ReturnType<typeof makeDeviceStore>;
