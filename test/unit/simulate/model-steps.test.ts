import { makeConformance } from '../../simulate/steps/conformance.ts';
import { commandOf } from '../../simulate/world/resp.ts';

/* Steps of scripts, with the fields of the record after each, in the form of a run. */

type Fields = Record<string, string>;
type Model = 'relay' | 'keyring' | 'login' | 'transfer';

interface Step {
  script: string;
  key: string;
  /** Other keys of the script. */
  keys?: string[];
  args: string[];
  says: string[];
  leaves: Fields;
  /** The store's time from this step on, in seconds after the first. */
  atSeconds?: number;
}

const NOW_SECONDS = 1_000;
const nowMs = (afterMs: number): string => String(NOW_SECONDS * 1_000 + afterMs);

/** Passes on steps, and returns what was found wrong with them. */
async function wrongIn(model: Model, steps: readonly Step[]): Promise<string[]> {
  const records = new Map<string, Fields>();
  let nowSeconds = NOW_SECONDS;
  const ask = (command = '', key = '', ...names: string[]): Promise<Buffer> => {
    const found = records.get(key) ?? {};
    const words = command === 'HGETALL' ? Object.entries(found).flat() : names.map((name) => found[name] ?? '');
    return Promise.resolve(Buffer.from(commandOf(...(command === 'TIME' ? [String(nowSeconds), '0'] : words))));
  };
  const compared = makeConformance({ ask, now: () => 0 })[model];
  for (const { script, key, keys = [], args, says, leaves, atSeconds } of steps) {
    if (atSeconds !== undefined) nowSeconds = NOW_SECONDS + atSeconds;
    records.set(key, leaves);
    const all = [key, ...keys];
    const words = ['EVAL', `-- ${script}\n`, String(all.length), ...all, ...args];
    await compared.note(words, Buffer.from(commandOf(...says)), 'r1/1');
  }
  expect(compared.count).toBeGreaterThan(0);
  return compared.violations.map(({ says }) => says);
}

const FILE = 'p:relay:{t1}:0:state';
const bytesOf = (g: number): string => `p:relay:{t1}:0:${g}`;
const BEGUN = { g: '0', end: '0', base: '0', got: '0', skips: '0' };
const SENT = { ...BEGUN, end: '100', w: 'a' };

const create = (generation: number, base: number, leaves: Fields): Step => ({
  ...{ script: 'relay-create', key: FILE, keys: [bytesOf(generation)], says: ['OK', '', ''], leaves },
  args: [String(generation), String(base)],
});
const open = (side: 'w' | 'r', [token, from]: [string, number], leaves: Fields): Step => ({
  ...{ script: 'relay-open', key: FILE, keys: [bytesOf(0)], says: ['OK', 'here', '0'], leaves },
  args: ['0', side, token, 'channel', String(from)],
});
const commit = ([token, start]: [string, number], taken: string, leaves: Fields): Step => ({
  ...{ script: 'relay-commit', key: FILE, keys: [bytesOf(0)], says: ['OK', taken, '', ''], leaves },
  args: [token, String(start), String(start + 100), '0'],
});
const take = (token: string, position: number, leaves: Fields): Step => ({
  ...{ script: 'relay-take', key: FILE, keys: [bytesOf(0)], says: ['OK', '1', '', '', ''], leaves },
  args: [token, String(position), '0', '0'],
});
const record = (from: string, to: string): Step => ({
  ...{ script: 'transfer-generation', key: 'p:{u}:transfer:t1', says: ['OK', to, '', '1'] },
  ...{ args: ['0', from, to, '0'], leaves: { r0: `${to}:0` } },
});
const UPLOAD = [
  create(0, 0, BEGUN),
  record('', '0'),
  open('w', ['a', 0], { ...BEGUN, w: 'a' }),
  commit(['a', 0], '0', SENT),
];

test('an upload, a range and a rewind take steps of the relay', async () => {
  const read = { ...SENT, r: 'b', skips: '1' };
  const rewound = { ...BEGUN, g: '1', base: '60', end: '60', got: '0', skips: '1', r: 'b' };
  const steps = [...UPLOAD, open('r', ['b', 50], read), take('b', 60, read), create(1, 60, rewound), record('0', '1')];
  expect(await wrongIn('relay', steps)).toEqual([]);
});

const BROKEN_RELAY: [string, Step[]][] = [
  ['a chunk of a sender that was replaced was taken', [commit(['z', 100], '0', { ...SENT, end: '200' })]],
  ['a chunk that begins elsewhere was taken', [commit(['a', 150], '0', { ...SENT, end: '250' })]],
  ['a chunk was refused that goes on', [commit(['a', 100], '', SENT)]],
  ['nobody noted that a range was skipped', [open('r', ['b', 50], { ...SENT, r: 'b', skips: '0' })]],
  [
    'a range behind what was taken counts as taken',
    [open('r', ['b', 50], { ...SENT, r: 'b', skips: '1' }), take('b', 60, { ...SENT, r: 'b', skips: '1', got: '60' })],
  ],
  ['a rewind forgot what its reader lacks', [create(1, 60, { ...BEGUN, g: '1', base: '60', end: '60', got: '60' })]],
  ['a generation was recorded that nobody made', [record('0', '1')]],
  [
    'a generation was left out in the record',
    [create(1, 0, { ...BEGUN, g: '1' }), create(2, 0, { ...BEGUN, g: '2' }), record('0', '2')],
  ],
  [
    'a script of another kind moved the end',
    [{ ...take('b', 0, SENT), script: 'relay-leave', leaves: { ...SENT, end: '90' } }],
  ],
];

test.each(BROKEN_RELAY)('it is found that %s', async (_, steps) => {
  expect(await wrongIn('relay', [...UPLOAD, ...steps])).toHaveLength(1);
});

const RINGS = 'p:{u}:keys';
const ringText = (before: string): string =>
  `${Buffer.from(JSON.stringify({ prev_hash: before })).toString('base64url')}.s`;
const put = ([n, hash, before]: [number, string, string], said: string, inForce: [number, string]): Step => ({
  ...{ script: 'keyring-put', key: RINGS, says: ['OK', said], args: [String(n), hash, ringText(before), before] },
  leaves: { n: String(inForce[0]), hash: inForce[1] },
});
const FIRST = put([1, 'A', ''], 'put', [1, 'A']);

test('rings that follow each other, come again or are refused take steps of their model', async () => {
  const steps = [
    FIRST,
    put([1, 'A', ''], 'put', [1, 'A']),
    put([2, 'B', 'A'], 'put', [2, 'B']),
    put([2, 'C', 'A'], 'moved', [2, 'B']),
  ];
  expect(await wrongIn('keyring', steps)).toEqual([]);
});

test.each([
  ['a second ring after the same one replaced the first', put([1, 'B', ''], 'put', [1, 'B'])],
  ['a second ring after the same one was answered as the first', put([1, 'B', ''], 'put', [1, 'A'])],
  ['a ring was put that follows another', put([2, 'B', 'Z'], 'put', [2, 'B'])],
  ['a ring that follows was refused', put([2, 'B', 'A'], 'moved', [1, 'A'])],
  ['a ring left out a number', put([3, 'B', 'A'], 'put', [3, 'B'])],
  ['another script changed the ring in force', { ...put([1, 'A', ''], 'put', [1, 'B']), script: 'keyring-guests' }],
])('it is found that %s', async (_, step) => {
  expect(await wrongIn('keyring', [FIRST, step])).toHaveLength(1);
});

const LOGIN = 'p:login:{q}';
const PENDING = { state: 'pending', fence: '0', expires: nowMs(60_000) };
const APPROVED = { ...PENDING, state: 'approved', decision: 'o1' };
const LEASED = { ...APPROVED, fence: '1', lease: nowMs(6_000) };
const AGAIN = { ...APPROVED, fence: '2', lease: nowMs(13_000) };

const started: Step = { script: 'login-start', key: LOGIN, args: [], says: ['OK', '0', '0'], leaves: PENDING };
const decide = (decision: string, operation: string, says: string[], leaves: Fields): Step => ({
  ...{ script: 'login-decide', key: LOGIN, says, leaves },
  args: ['code', '5', operation, 'account', decision],
});
const poll = (says: string[], leaves: Fields): Step => ({ script: 'login-poll', key: LOGIN, args: [], says, leaves });
const lease = (fence: string, leaves: Fields): Step => poll(['OK', 'leased', '0', '', fence], leaves);
const finish = (fence: string, outcome: string, done: '0' | '1', leaves: Fields): Step => ({
  ...{ script: 'login-finish', key: LOGIN, args: [fence, outcome], says: ['OK', done], leaves },
});
const approved = decide('approved', 'o1', ['OK', 'decided', ''], APPROVED);
/** The first lease has lapsed by then. */
const again = { ...lease('2', AGAIN), atSeconds: 7 };
const consumed = { ...AGAIN, state: 'consumed', lease: '' };

test('a lease that lapses, and an end of each lease, take steps of their model', async () => {
  const steps = [
    ...[started, approved, decide('approved', 'o1', ['OK', 'decided', ''], APPROVED), lease('1', LEASED), again],
    ...[
      finish('1', 'consumed', '0', AGAIN),
      finish('2', 'consumed', '1', consumed),
      finish('2', 'consumed', '1', consumed),
    ],
  ];
  expect(await wrongIn('login', steps)).toEqual([]);
});

test('a request whose time is over expires before it is answered', async () => {
  const over = { ...PENDING, expires: nowMs(-1) };
  const expired = { ...over, state: 'expired' };
  const before = { ...started, leaves: over };
  const late = decide('approved', 'o1', ['login_expired'], expired);
  expect(await wrongIn('login', [before, late])).toEqual([]);
  expect(
    await wrongIn('login', [before, decide('approved', 'o1', ['OK', 'decided', ''], { ...over, state: 'approved' })]),
  ).toHaveLength(1);
});

const TWO_LEASES = [started, approved, lease('1', LEASED), again];

test.each([
  ['a lease that another replaced ended the request', [finish('1', 'consumed', '1', consumed)]],
  ['a lease that another replaced was told that it ended the request', [finish('1', 'consumed', '1', AGAIN)]],
  ['a lease that another replaced gave the newest back', [finish('1', 'approved', '0', { ...AGAIN, lease: '' })]],
  ['the newest lease was refused', [finish('2', 'consumed', '0', AGAIN)]],
  ['two polls had a lease at the same time', [lease('3', { ...AGAIN, fence: '3' })]],
  ['a lease kept the fencing number', [finish('2', 'approved', '1', { ...AGAIN, lease: '' }), lease('2', AGAIN)]],
  [
    'a request was decided twice',
    [decide('denied', 'o2', ['OK', 'decided', ''], { ...AGAIN, state: 'denied', lease: '' })],
  ],
  ['an end was changed', [finish('2', 'consumed', '1', consumed), finish('2', 'approved', '1', AGAIN)]],
  ['a poll changed the request', [poll(['OK', 'minting', '0', ''], { ...AGAIN, state: 'pending' })]],
])('it is found that %s', async (_, steps) => {
  const wrong = await wrongIn('login', [...TWO_LEASES, ...steps]);
  expect(wrong).toHaveLength(1);
});

test('the script of a transaction is compared when the transaction is carried out, and one that was not is not', async () => {
  const fields = { ...SENT };
  const ask = (_command = '', _key = '', ...names: string[]): Promise<Buffer> =>
    Promise.resolve(Buffer.from(commandOf(...names.map((name) => (fields as Fields)[name] ?? ''))));
  const { relay } = makeConformance({ ask, now: () => 0 });
  const queue = (start: string, end: string) =>
    relay.note(
      ['EVAL', '-- relay-commit\n', '2', FILE, bytesOf(0), 'a', start, end, '0'],
      Buffer.from('+QUEUED\r\n'),
      'r1/1',
    );
  const exec = (reply: string, connection: string) => relay.note(['EXEC'], Buffer.from(reply), connection);
  const committed = `*2\r\n$5\r\n200-0\r\n${commandOf('OK', '0', '', '')}`;
  await relay.note(
    ['EVAL', '-- relay-open\n', '2', FILE, bytesOf(0), '0', '-', '', '', ''],
    Buffer.from(commandOf('OK', 'here')),
    'r1/1',
  );
  const before = relay.violations.length;

  await queue('100', '200');
  await exec(committed, 'r2/1');
  await exec('-EXECABORT\r\n', 'r1/1');
  expect(relay.violations.slice(before)).toEqual([]);
  await queue('100', '200');
  fields.end = '200';
  await exec(committed, 'r1/1');
  expect(relay.violations.slice(before)).toEqual([]);
  await queue('300', '400');
  fields.end = '400';
  await exec(committed, 'r1/1');
  expect(relay.violations.slice(before)).toHaveLength(1);
});
