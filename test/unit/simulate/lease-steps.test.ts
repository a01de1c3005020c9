import { followLeases } from '../../simulate/steps/lease-steps.ts';
import { commandOf } from '../../simulate/world/resp.ts';

/* Scripts on leases, with the counters and the reapers after each, in the form of a run. */

type Hash = Record<string, string>;
type Step = [script: string, args: string[], says: string[], counters: Hash, reaping: Hash];

/** Returns what was found wrong with the last of these steps. */
async function wrongAfter(...steps: Step[]): Promise<string | null> {
  const { follow } = followLeases();
  let wrong: string | null = null;
  for (const [name, args, says, counters, reaping] of steps) {
    const ask = (_: string, key = ''): Promise<Buffer> => {
      const hash = key.endsWith(':replicas') ? counters : reaping;
      return Promise.resolve(Buffer.from(commandOf(...Object.entries(hash).flat())));
    };
    wrong = await follow(ask, 'p:{sys}:replicas', { name, keys: [], args, reply: Buffer.from(commandOf(...says)) });
  }
  return wrong;
}

const BEATS: Step = ['lease-renew', ['a'], ['OK', '1'], { a: '2', b: '5' }, {}];
const claim = (counter: string, counters: Hash = { a: '2' }): Step => {
  return ['lease-reap', ['b', counter, '', 'a'], ['OK', '1'], counters, { b: 'a' }];
};

test('a replica whose counter stood still is claimed, and taken over from its reaper', async () => {
  expect(await wrongAfter(BEATS)).toBeNull();
  expect(await wrongAfter(BEATS, claim('5'))).toBeNull();
  const takeOver: Step = ['lease-reap', ['b', '', 'a', 'c'], ['OK', '1'], {}, { b: 'c' }];
  expect(await wrongAfter(BEATS, claim('5'), takeOver)).toBeNull();
});

test('a claim with a counter that has risen since is found', async () => {
  expect(await wrongAfter(BEATS, claim('4'))).toBe('b was claimed with the counter 4, and had 5');
});

test('an id with a lease and a reaper is found', async () => {
  expect(await wrongAfter(BEATS, claim('5', { a: '2', b: '5' }))).toBe('b has a lease, and the reaper a');
});

test('a renewal that makes a lost lease anew is found', async () => {
  const renewal: Step = ['lease-renew', ['b'], ['OK', '0'], { a: '2', b: '1' }, {}];
  const gone: Step = ['lease-renew', ['a'], ['OK', '1'], { a: '2' }, {}];
  expect(await wrongAfter(gone, renewal)).toBe('b had no lease, and a renewal made one');
});
