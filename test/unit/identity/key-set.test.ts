import { jwtVerify } from 'jose';
import { makeKeySet } from '../../../services/sync/identity/key-sets/key-set.ts';
import { type KeyServer, makeSigner, type Signer, startKeyServer } from '../../edge/key-server.ts';
import { codeOf } from './request.ts';

/* The keys that assertions and access tokens are checked with, and how rarely they are fetched. */

let [first, second]: Signer[] = [];
let server: KeyServer;
let clockMs: number;

beforeAll(async () => {
  [first, second] = await Promise.all([makeSigner('first'), makeSigner('second', 'EdDSA')]);
});
beforeEach(async () => {
  server = await startKeyServer((first as Signer).jwk);
  clockMs = 0;
});
afterEach(() => server.stop());

function keySet() {
  const failures: string[] = [];
  const keys = makeKeySet({
    url: server.url,
    now: () => clockMs,
    onFailure: (task) => failures.push(task),
  });
  const check = async (signer: Signer | undefined): Promise<string> =>
    codeOf(async () => jwtVerify(await (signer as Signer).sign({ sub: 'alice' }), keys));
  return { check, failures, keys };
}

const UNKNOWN = 'ERR_JWKS_NO_MATCHING_KEY';

test('are fetched when first needed, once for all who wait', async () => {
  const { check } = keySet();
  expect(server.fetches()).toBe(0);
  expect(await Promise.all([check(first), check(first), check(first)])).toEqual(['none', 'none', 'none']);
  expect(await check(first)).toBe('none');
  expect(server.fetches()).toBe(1);
});

test('a flood of unknown key ids costs one fetch in half a minute', async () => {
  const { check } = keySet();
  await check(first);
  clockMs += 30_000;
  const strangers = await Promise.all(Array.from({ length: 20 }, (_, i) => makeSigner(`stranger-${i}`)));
  expect(new Set(await Promise.all(strangers.map(check)))).toEqual(new Set([UNKNOWN]));
  for (const stranger of strangers) await check(stranger);
  expect(server.fetches()).toBe(2);
  clockMs += 29_999;
  await Promise.all(strangers.map(check));
  expect(server.fetches()).toBe(2);
});

test('a new key is found by its first use', async () => {
  const { check } = keySet();
  await check(first);
  server.keys.push((second as Signer).jwk);
  clockMs += 30_000;
  expect(await check(second)).toBe('none');
});

test('a key that was withdrawn stops being good within five minutes and a request', async () => {
  const { check } = keySet();
  await check(first);
  server.keys.splice(0, 1, (second as Signer).jwk);
  clockMs += 300_000;
  // This check starts the fetch, and does not wait for it.
  await check(first);
  expect(await check(second)).toBe('none');
  expect(await check(first)).toBe(UNKNOWN);
});

test.each<[string, (server: KeyServer) => void]>([
  ['answers an error', ({ answerWith }) => answerWith((res) => res.writeHead(500).end())],
  ['answers something else', ({ answerWith }) => answerWith((res) => res.end('<html>'))],
  ['answers no key at all', ({ answerWith }) => answerWith((res) => res.end('{"keys":[]}'))],
  ['answers without end', ({ answerWith }) => answerWith((res) => res.end(' '.repeat(300_000)))],
  ['sends elsewhere', ({ answerWith }) => answerWith((res) => res.writeHead(302, { Location: '/' }).end())],
  ['hangs up', ({ answerWith }) => answerWith((res) => res.destroy())],
  ['says nothing', ({ answerWith }) => answerWith(() => undefined)],
])('the last good keys go on working while their place %s', async (_, spoil) => {
  const { check, failures } = keySet();
  await check(first);
  spoil(server);
  for (let i = 0; i < 3; i++) {
    clockMs += 300_000;
    expect(await check(first)).toBe('none');
    expect(await check(second)).toBe(UNKNOWN);
  }
  expect(failures).toEqual(Array(3).fill('fetch keys'));
  server.answerKeys();
  clockMs += 300_000;
  expect(await check(first)).toBe('none');
});

test('keys that nobody could fetch anew for a day are believed no longer, until somebody can', async () => {
  const { check } = keySet();
  await check(first);
  server.answerWith((res) => res.destroy());
  clockMs += 86_399_000;
  expect(await check(first)).toBe('none');
  clockMs += 1_000;
  expect(await check(first)).toBe('broker_unavailable');
  server.answerKeys();
  clockMs += 1_000;
  expect(await check(first)).toBe('none');
});

test('without any keys nobody is let in, and their place is asked once a second', async () => {
  server.answerWith((res) => res.writeHead(503).end());
  const { check } = keySet();
  expect(await Promise.all([check(first), check(first)])).toEqual(['broker_unavailable', 'broker_unavailable']);
  expect(await check(first)).toBe('broker_unavailable');
  expect(server.fetches()).toBe(1);
  server.answerKeys();
  clockMs += 1_000;
  expect(await check(first)).toBe('none');
  expect(server.fetches()).toBe(2);
});

test('whoever shows a token just after a fetch at the start came before the broker was there is let in', async () => {
  const early = new Promise<void>((resolve) => {
    server.answerWith((res) => res.writeHead(503).end(resolve));
  });
  const { check, keys } = keySet();
  keys.start();
  await early;
  server.answerKeys();
  // A request during that fetch shares its end.
  await check(first);
  expect(await check(first)).toBe('none');
  keys.stop();
});

test('a token that names no key is checked with the only one that fits, and not tried against several', async () => {
  const nameless = {
    ...(first as Signer),
    sign: (claims: object) => (first as Signer).sign({ ...claims }, { kid: undefined }),
  };
  server.keys.push((second as Signer).jwk);
  expect(await keySet().check(nameless)).toBe('none');
  server.keys.push((await makeSigner('third')).jwk);
  expect(await keySet().check(nameless)).toBe('ERR_JWKS_MULTIPLE_MATCHING_KEYS');
});
