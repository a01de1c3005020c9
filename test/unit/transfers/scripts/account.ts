import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import * as scripts from '../../../../services/sync/transfers/scripts.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { callOf, NOW, runScript } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());
export const REDELIVERY_MS = 3_600_000;
export const CREATED = NOW - 1_000;
export const LOG_ID = `${CREATED}-7`;

/** The record of an offer of one file by the laptop to the phone. */
const RECORD = {
  ...{ id: 't1', sender: 'laptop', sender_name: 'Laptop', receiver: 'phone', receiver_name: 'Phone' },
  ...{ files: '[{"name":"a","size":10}]', count: '1', bytes: '10', sealed: 'null', slot: 't1:10:full', log: LOG_ID },
  ...{ state: 'PENDING', mode: 'p2p', phase: 'initializing', sent: '0', received: '0', error: 'null' },
  ...{ created: String(CREATED), updated: String(CREATED), expires: String(NOW + 5_000) },
  ...{ relay: '0', accepted: '0', forwarded: '0', dirty: '0' },
};
export type Fields = Partial<typeof RECORD> & Record<string, string>;

/** Returns a transfer in the form of a script's answer, without its end. */
export const openJson = (fields: Fields = {}): string => {
  const t = { ...RECORD, ...fields };
  return (
    `{"transfer_id":"t1","state":"${t.state}","mode":"${t.mode}","phase":"${t.phase}",` +
    `"sender":{"device_id":"laptop","name":"Laptop"},"receiver":{"device_id":"phone","name":"Phone"},` +
    `"file_count":${t.count},"total_bytes":${t.bytes},"sealed":${t.sealed},` +
    `"progress":{"sent_bytes":${t.sent},"received_bytes":${t.received}},"error":${t.error},` +
    `"created_at":${t.created},"updated_at":${t.updated},"expires_at":${t.expires}`
  );
};

/** Returns the same after a change at NOW. */
export const changedJson = (fields: Fields): string =>
  openJson({ ...fields, updated: String(NOW), expires: String(NOW + 86_400_000) });

/** Makes an account with a laptop, a phone and a tablet. Its scripts run in the store at NOW. */
export async function makeAccount(redis: Redis) {
  const name = `u${randomBytes(5).toString('hex')}`;
  const on = keys.inAccount(name, {
    ...{
      record: keys.transfer(name, 't1'),
      files: keys.transferFiles(name, 't1'),
      sealed: keys.transferSealed(name, 't1'),
    },
    ...{ operation: keys.call(name, 'laptop'), rate: keys.rate(name, 'transfer', 'laptop') },
    accountRate: keys.rate(name, 'transfer', null),
  });
  await redis.hset(on.devices, 'laptop', 'Laptop\n', 'phone', 'Phone\n', 'tablet', 'Tablet\n');
  await redis.hset(on.routes, 'watch', ['bus:watch', '~Watch', 1, NOW, NOW, 0].join('\n'));
  const offer = {
    ...{ sender: 'laptop', target: '=phone', transferId: 't1', files: RECORD.files, count: 1, bytes: 10, sealed: '' },
    ...{
      fingerprint: 'body',
      rememberSeconds: 0,
      pushes: 'off' as 'off' | 'scheduled' | 'unscheduled',
      dead: [] as string[],
    },
    ...{ lateMs: 0, longList: '', brief: '', quotaBytes: 10, scope: 'full' as 'full' | 'guest' },
  };
  const prepare = (args: Partial<typeof offer> = {}) =>
    callOf(redis, scripts.transferInit, [], on, { ...offer, ...args });
  type Action = 'accept' | 'reject' | 'p2p' | 'relay' | 'complete' | 'fail' | 'cancel';
  const phase = { phase: '', sent: null, received: null, file: null, storedBytes: null };
  return {
    name,
    keys: on,
    prepare,
    offer: (args: Partial<typeof offer> = {}) => prepare(args)(),
    /** Writes a record with its entries in the lists of the account. */
    async transfer(fields: Fields = {}) {
      await redis.hset(on.record, { ...RECORD, ...fields });
      await redis.zadd(on.offers, 0, `phone pending ${LOG_ID}:t1`);
      await redis.zadd(on.offers, 0, `laptop all ${CREATED}-t1`, 0, `phone all ${CREATED}-t1`);
      await redis.zadd(on.transfers, 0, 't1:10:full');
    },
    prepareAct: (device: string, action: Action, { phase: to = '', error = 'null' } = {}) =>
      callOf(redis, scripts.transferAct, [], on, { device, action, phase: to, error }),
    phase: (
      device: string,
      args: Partial<{ phase: string; sent: number; received: number; file: number; storedBytes: number }>,
    ) => runScript(redis, scripts.transferPhase, [], on, { device, ...phase, ...args }),
    read: (device: string) => runScript(redis, scripts.transferRead, [], on, { device }),
    glance: (device: string, state = '') => runScript(redis, scripts.transferGlance, [], on, { device, state }),
    file: (device: string, file: number) => runScript(redis, scripts.transferFile, [], on, { device, file }),
    list: (device: string, cursor = '', count = 10) =>
      runScript(redis, scripts.transferList, [], on, { device, cursor, count }),
    pending: (device: string, position: string) =>
      runScript(redis, scripts.transferPending, [{ REDELIVERY_MS }], on, { device, position }),
    expire: (transferId = 't1') => runScript(redis, scripts.transferExpire, [], on, { transferId }),
    evict: (transferId = 't1') => runScript(redis, scripts.transferEvict, [], on, { transferId }),
    generation: (known: number | null, generation: number, { file = 0, offset = 0, tells = true } = {}) =>
      runScript(redis, scripts.transferGeneration, [], on, { file, knownGeneration: known, generation, offset, tells }),
    stored: () => redis.hgetall(on.record),
    logged: () => redis.xrange(on.log, '-', '+'),
    offers: () => redis.zrange(on.offers, '0', '-1'),
    transfers: () => redis.zrange(on.transfers, '0', '-1', 'WITHSCORES'),
  };
}
