import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { BytesRequest, Caller } from '../../../shared/client/http/caller.ts';
import { makeRelaySender } from '../../../shared/client/transfers/sending.ts';
import { makeRun } from '../../../shared/client/transfers/transfer-run.ts';
import type { Transfer } from '../../../shared/client/wire.ts';

const { jest } = import.meta;

const SIZE = 1_000_000;
const busy = (retryAfterMs = 1_000) =>
  new BatonClientError('relay_busy', 'full', { action: 'retry', retryAfterMs, status: 503 });
const cut = () => new BatonClientError('network', 'cut', { action: 'retry' });

/**
 * Sends one file to a relay that refuses it this often and then cuts it off once. Time passes at once, and each wait is
 * recorded.
 */
async function sendAfter(refusals: number, retryAfterMs?: number) {
  const waits: number[] = [];
  const pieces: number[] = [];
  const answers = [...Array.from({ length: refusals }, () => busy(retryAfterMs)), cut()];
  const id = 'transfer';
  const transfer = {
    transfer_id: id,
    state: 'RELAY_ACTIVE',
    mode: 'relay',
    files: [],
    uploads: [],
  } as unknown as Transfer;
  let reached = 0;
  const caller = {
    call: async () => ({ body: { transfer } }),
    async bytes({ method, body }: BytesRequest) {
      if (method === 'PATCH') {
        const { length } = body as Uint8Array;
        pieces.push(length);
        const refusal = answers.shift();
        if (refusal !== undefined) throw refusal;
        reached += length;
      }
      return new Response(null, { headers: { 'upload-offset': String(reached) } });
    },
  } as unknown as Caller;
  const clock = {
    now: () => 0,
    after(ms: number, go: () => void) {
      const timer = setImmediate(() => {
        // The limit of a request does not count as a wait.
        if (ms >= 10_000 && retryAfterMs === undefined) return;
        waits.push(ms);
        go();
      });
      return () => clearImmediate(timer);
    },
  };
  const source = {
    ...{ name: 'a', size: SIZE, replayable: true, open: () => new Blob([]).stream() },
    pieces: () => ({
      at: async (from: number, most: number) => new Uint8Array(Math.min(most, SIZE - from)),
      close() {},
    }),
  };
  const run = makeRun({
    transfer,
    caller,
    clock,
    files: [source],
    side: 'sender',
    signals: [],
    onProblem() {},
    onOver() {},
  });
  const sender = makeRelaySender({ run, caller, clock, sources: [source], concurrency: 1, isInUse: () => true });
  await sender.begin();
  await sender.uploaded;
  return { waits, pieces };
}

test('whom a full relay refused offers little until it is taken, and is not kept waiting by a lost connection', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0.999);
  const { waits, pieces } = await sendAfter(12);
  jest.restoreAllMocks();
  expect(waits).toHaveLength(13);
  expect(waits.slice(0, 3)).toEqual([10, 15, 22.5]);
  expect(Math.max(...waits)).toBe(500);
  // The connection was lost once, however often the relay was full before.
  expect(waits[12]).toBeLessThanOrEqual(250);
  expect(pieces[0]).toBe(512 * 1024);
  expect(pieces.slice(1, 13).every((bytes) => bytes === 64 * 1024)).toBe(true);
  expect(pieces.slice(13).reduce((sum, bytes) => sum + bytes)).toBe(SIZE);
});

test('a relay that asks for a day is asked again after about a minute', async () => {
  const { waits } = await sendAfter(1, 86_400_000);
  expect(waits.filter((ms) => ms >= 60_000)).toHaveLength(1);
  expect(Math.max(...waits)).toBeLessThanOrEqual(90_000);
});
