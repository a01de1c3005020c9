import { Requests, type Running } from '../../../services/sync/relay/requests/requests.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

/** Adds a download that has been waiting since then, or, with null, moves bytes. It ends when it is told to. */
function download(requests: Requests, account: string, waitsSinceMs: number | null) {
  const leave = requests.admit('down', account);
  const ended = { code: null as string | null };
  let finish: () => void = () => undefined;
  const running: Running = {
    asker: { account, deviceId: 'device' },
    file: { transferId: 'transfer', index: 0 },
    bufferedBytes: () => 0,
    waitsSinceMs: () => waitsSinceMs,
    notify: () => undefined,
    end: ({ code }) => {
      ended.code = code;
      finish();
    },
  };
  const done = requests.during('down', running, () => new Promise<void>((resolve) => (finish = resolve))).then(leave);
  return { ended, done, end: () => finish() };
}

const make = () => new Requests(makeMetrics({ version: 'test' }));

const BUSY = expect.objectContaining({ code: 'relay_busy' });

test('above what a replica may have, the download that waits longest for its sender is cut for a new one', async () => {
  const requests = make();
  const all = Array.from({ length: 1_024 }, (_, i) => download(requests, `account ${i % 32}`, i === 7 ? 1 : 100 + i));
  all.push(download(requests, 'another', null));
  expect(all.filter(({ ended }) => ended.code !== null)).toEqual([all[7]]);
  all.push(download(requests, 'another', null));
  expect([all[7], all[0]].map((cut) => cut?.ended.code)).toEqual(['relay_busy', 'relay_busy']);
  for (const { end } of all) end();
  await Promise.all(all.map(({ done }) => done));
});

test('downloads that move bytes are not cut for new ones, and an account has only so many', async () => {
  const requests = make();
  const mine = Array.from({ length: 2 * LIMITS.relayReads }, () => download(requests, 'me', 1));
  expect(() => requests.admit('down', 'me')).toThrow(BUSY);
  expect(mine.filter(({ ended }) => ended.code !== null)).toEqual([]);
  for (const { end } of mine) end();
  await Promise.all(mine.map(({ done }) => done));
  const moving = Array.from({ length: 1_024 }, (_, i) => download(requests, `account ${i % 32}`, null));
  expect(() => requests.admit('down', 'another')).toThrow(BUSY);
  for (const { end } of moving) end();
  await Promise.all(moving.map(({ done }) => done));
  requests.admit('down', 'another')();
});

test('one account that moves bytes does not keep others from the replica, and all together are bounded', () => {
  const requests = make();
  for (let i = 0; i < 2 * LIMITS.relayFiles; i++) requests.admit('up', 'me');
  expect(() => requests.admit('up', 'me')).toThrow(BUSY);
  let admitted = 2 * LIMITS.relayFiles;
  const fill = () => {
    for (; admitted < 2_000; admitted++) requests.admit('up', `account ${admitted}`);
  };
  expect(fill).toThrow(BUSY);
  expect(admitted).toBe(512);
});
