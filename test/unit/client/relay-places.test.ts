import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { BytesRequest, Caller } from '../../../shared/client/http/caller.ts';
import { makeRelaySender } from '../../../shared/client/transfers/sending.ts';
import { makeRun } from '../../../shared/client/transfers/transfer-run.ts';
import type { Transfer } from '../../../shared/client/wire.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

const FILES = 60;
/** The limit is more than any of these transfers needs. */
const MOST_STEPS = 3_000;

/** Returns numbers from 0 to `below`, the same for the same seed. */
function drawFrom(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Case {
  seed: number;
  sending: number;
  receiving: number;
}

/**
 * Sends files of one byte through a relay with the places of the service, to a receiver that fetches this many files at a time,
 * in their order. Requests, fetches and timers end one at a time, in an order that the seed gives. Now and then the relay loses
 * the bytes of a file and asks for them again. Returns how many files arrived before only refusals happened.
 */
async function transferAll({ seed, sending, receiving }: Case): Promise<number> {
  const draw = drawFrom(seed);
  const events: (() => void)[] = [];
  const places = new Set<number>();
  const stored = new Set<number>();
  const fetched = new Set<number>();

  function fetchOne(): void {
    const wanted = Array.from({ length: FILES }, (_, at) => at).filter((at) => !fetched.has(at));
    const [at] = wanted.slice(0, receiving).filter((one) => stored.has(one));
    if (at === undefined) return;
    stored.delete(at);
    if (draw(10) === 0) return sender.rewind(at, `/api/relay/transfer/${at}/1`, 0);
    places.delete(at);
    fetched.add(at);
  }

  const transfer = {
    ...{ transfer_id: 'transfer', state: 'RELAY_ACTIVE', mode: 'relay', files: [], uploads: [] },
  } as unknown as Transfer;
  const caller = {
    call: async () => ({ body: { transfer } }),
    bytes: ({ path }: BytesRequest) =>
      new Promise<Response>((resolve, reject) => {
        const index = Number(path.split('/')[4]);
        events.push(() => {
          if (!places.has(index) && places.size >= LIMITS.relayFiles) {
            reject(new BatonClientError('relay_busy', 'full', { action: 'retry', retryAfterMs: 1_000, status: 503 }));
          } else {
            places.add(index);
            stored.add(index);
            resolve(new Response(null, { headers: { 'upload-offset': '1' } }));
          }
        });
      }),
  } as unknown as Caller;
  const clock = {
    now: () => 0,
    after(ms: number, go: () => void) {
      // The limit of a request does not count as a wait.
      if (ms < 10_000) events.push(go);
      return () => {};
    },
  };
  const source = (name: string) => ({
    ...{ name, size: 1, replayable: true, open: () => new Blob(['a']).stream() },
    pieces: () => ({ at: async () => new Uint8Array(1), close() {} }),
  });
  const sources = Array.from({ length: FILES }, (_, at) => source(String(at)));
  const run = makeRun({
    ...{ transfer, caller, clock, files: sources, signals: [] },
    side: 'sender',
    onProblem() {},
    onOver() {},
  });
  const sender = makeRelaySender({ run, caller, clock, sources, concurrency: sending, isInUse: () => true });
  await sender.begin();
  for (let step = 0; step < MOST_STEPS && fetched.size < FILES; step += 1) {
    const next = draw(events.length + 1);
    if (next === events.length) fetchOne();
    else for (const go of events.splice(next, 1)) go();
    // The consequences of the event end in microtasks.
    await new Promise(setImmediate);
  }
  run.stop(new BatonClientError('aborted', 'over'));
  return fetched.size;
}

test.each([
  { sending: 2, receiving: 2 },
  { sending: 4, receiving: 2 },
  { sending: 8, receiving: 2 },
  { sending: 4, receiving: 1 },
  { sending: 8, receiving: 8 },
])('$sending senders and $receiving fetches never wait for each other, whatever the relay refuses', async (one) => {
  const arrived: number[] = [];
  for (let seed = 0; seed < 12; seed += 1) arrived.push(await transferAll({ ...one, seed }));
  expect(arrived).toEqual(arrived.map(() => FILES));
});
