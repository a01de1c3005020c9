import { Requests, type Running } from '../../../services/sync/relay/requests.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

/** A download that waits since then, or, with null, moves bytes; it ends when it is told to. */
function download(requests: Requests, account: string, waitsSinceMs: number | null) {
  const leave = requests.admit('down', account);
  const ended = { code: null as string | null };
  let finish: () => void = () => undefined;
  const running: Running = {
    asker: { account, deviceId: 'device' } as Running['asker'],
    file: { transferId: 'transfer', index: 0 },
    bufferedBytes: () => 0,
    waitsSinceMs: () => waitsSinceMs,
    ring: () => undefined,
    end: ({ code }) => {
      ended.code = code;
      finish();
    },
  };
  const done = requests.during('down', running, () => new Promise<void>((resolve) => (finish = resolve))).then(leave);
  return { ended, done, end: () => finish() };
}

const make = () => new Requests(makeMetrics({ version: 'test' }));

test('above what one account may have on a replica, the download that waits longest is cut for a new one', async () => {
  const requests = make();
  const mine = Array.from({ length: 2 * LIMITS.relayReads }, (_, i) => download(requests, 'me', i === 7 ? 1 : 100 + i));
  const others = download(requests, 'other', 0);
  mine.push(download(requests, 'me', 999));
  expect(mine.filter(({ ended }) => ended.code === 'relay_busy')).toEqual([mine[7]]);
  expect(others.ended.code).toBeNull();
  for (const { end } of [...mine, others]) end();
  await Promise.all([...mine, others].map(({ done }) => done));
  expect(() => requests.admit('down', 'me')()).not.toThrow();
});

test('one account that moves bytes does not keep others from the replica, and all together are bounded', () => {
  const requests = make();
  const busy = expect.objectContaining({ code: 'relay_busy' });
  for (let i = 0; i < 2 * LIMITS.relayFiles; i++) requests.admit('up', 'me');
  expect(() => requests.admit('up', 'me')).toThrow(busy);
  let admitted = 2 * LIMITS.relayFiles;
  const fill = () => {
    for (; admitted < 2_000; admitted++) requests.admit('up', `account ${admitted}`);
  };
  expect(fill).toThrow(busy);
  expect(admitted).toBe(512);
});
