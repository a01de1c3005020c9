import { makeSettingsWatch } from '../../../services/sync/replicas/settings-watch.ts';
import { makeLogger } from '../../../shared/service-kit/telemetry/logger.ts';

/* Whether all replicas on one store have the same values of the settings on which they must agree. */

const OWN = { APP_CLIPBOARD_TTL_SECONDS: '300', APP_SERVICE_ID: 'here' };

function watch(stored: Record<string, string>) {
  const lines: string[] = [];
  const asked: string[][] = [];
  const failures: string[] = [];
  const logger = makeLogger({ level: 'info', server: 'test' }, { write: (text) => lines.push(JSON.parse(text).msg) });
  const found = makeSettingsWatch({
    own: OWN,
    others: () => Object.keys(stored),
    read: (ids) => {
      asked.push([...ids]);
      return Promise.resolve(ids.map((id) => stored[id] ?? null));
    },
    logger,
    onFailure: (task) => failures.push(task),
  });
  const look = async () => {
    found.look();
    await new Promise(setImmediate);
  };
  return { found, look, lines, asked, failures };
}

test('a difference is said once, whoever has it, and when it is over', async () => {
  const other = JSON.stringify({ ...OWN, APP_CLIPBOARD_TTL_SECONDS: '60' });
  const stored: Record<string, string> = { a: JSON.stringify(OWN), b: other };
  const { found, look, lines, asked } = watch(stored);
  await look();
  await look();
  Object.assign(stored, { c: other });
  await look();
  const sentence =
    'another replica on this store has settings that must agree: APP_CLIPBOARD_TTL_SECONDS is 60 there and 300 here';
  expect([lines, asked, found.warnings()]).toEqual([[sentence], [['a', 'b'], ['c']], [sentence]]);
  delete stored['b'];
  await look();
  expect(found.warnings()).toEqual([sentence]);
  delete stored['c'];
  await look();
  expect([lines.at(-1), found.warnings()]).toEqual(['all replicas on this store agree about their settings again', []]);
});

test('each setting that differs is a sentence of its own', async () => {
  const { found, look, lines } = watch({ a: '{"APP_CLIPBOARD_TTL_SECONDS":"60","APP_SERVICE_ID":"there"}' });
  await look();
  const starts = ['APP_CLIPBOARD_TTL_SECONDS is 60 there', 'APP_SERVICE_ID is there there'];
  expect(lines).toEqual(starts.map((start) => expect.stringContaining(`agree: ${start}`)));
  expect(found.warnings()).toEqual(lines);
});

test('a replica that says nothing, nothing of a setting, or nonsense, is let be', async () => {
  const { found, look, lines, failures } = watch({
    old: '',
    less: '{"APP_NEW":"1"}',
    odd: '[[',
    text: '"x"',
    none: 'null',
  });
  await look();
  expect([found.warnings(), lines, failures]).toEqual([[], [], []]);
});

test('a long value is cut', async () => {
  const { found, look } = watch({ a: JSON.stringify({ ...OWN, APP_SERVICE_ID: 'x'.repeat(5_000) }) });
  await look();
  expect((found.warnings()[0] as string).length).toBeLessThan(300);
});

test('what could not be read is asked for again', async () => {
  const failures: string[] = [];
  let tries = 0;
  const found = makeSettingsWatch({
    own: OWN,
    others: () => ['a'],
    read: () => {
      tries += 1;
      return tries === 1 ? Promise.reject(new Error('away')) : Promise.resolve(['{"APP_SERVICE_ID":"there"}']);
    },
    logger: makeLogger({ level: 'silent', server: 'test' }),
    onFailure: (task) => failures.push(task),
  });
  for (let i = 0; i < 2; i++) {
    found.look();
    await new Promise(setImmediate);
  }
  expect([failures, found.warnings().length]).toEqual([['compare settings'], 1]);
});
