import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { bindScript } from '../../../shared/service-kit/redis/scripts/bound-script.ts';
import { scriptsIn } from '../../../services/sync/redis/script.ts';
import {
  absentOr,
  digits,
  fieldMap,
  flag,
  maybeNumber,
  maybeText,
  lines,
  number,
  oneOf,
  record,
  rest,
  restOfWords,
  rows,
  text,
  variants,
  wordSet,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';
import { connectTo, sharedRedisUrl } from '../../support/redis/redis.ts';

/** Makes a module `notes` with the script `note-add`, and returns the function that declares it. */
function definerOf(lua: string, chunks: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'scripts-'));
  mkdirSync(join(root, 'redis/prelude'), { recursive: true });
  for (const folder of ['notes/prelude', 'notes/lua']) mkdirSync(join(root, folder), { recursive: true });
  for (const [path, chunk] of Object.entries(chunks)) writeFileSync(join(root, path), chunk);
  writeFileSync(join(root, 'notes/lua/note-add.lua'), lua);
  return scriptsIn(pathToFileURL(join(root, 'notes/scripts.ts')).href);
}

const redis = connectTo(sharedRedisUrl());
afterAll(() => redis.disconnect());

test('a script finds its keys, arguments and constants by name, and is answered for by name', async () => {
  const defineScript = definerOf(
    `-- uses: sums notes/own
return { 'OK', keys.first_note, twice(COUNT), GREETING, plain .. digits_only, is_on and 'on' or 'off', missing == nil and 1 or 0,
  dead.b and not dead.c and 1 or 0, kind, table.concat(others, '+'), LIMITS.logEvents, BUS.unlogged, own(), 'x' }`,
    {
      'redis/prelude/sums.lua': 'local function twice(n) return 2 * n end',
      'notes/prelude/own.lua': "local function own() return 'id\\n7' end",
    },
  );
  const script = defineScript('note-add', {
    keys: ['firstNote', 'secondNote'],
    args: {
      ...{ plain: text, digitsOnly: digits, isOn: flag, missing: maybeNumber, dead: wordSet, kind: oneOf('a', 'b') },
      others: restOfWords,
    },
    constants: { GREETING: 'a "word"' },
    settings: ['COUNT'],
    reply: record({
      ...{ key: text, twice: number, greeting: text, joined: text, on: text, isMissing: flag, isDead: flag },
      ...{ kind: oneOf('a', 'b'), others: text, events: number, word: text },
      ...{ own: lines(rows({ tag: text, value: number })), more: maybeText, absent: absentOr(text) },
    }),
  });
  const bound = bindScript(script, false, [{ COUNT: 21 }]);
  const words = bound.words(
    { firstNote: 'k:{u}:1', secondNote: 'k:{u}:2' },
    { plain: 'x', digitsOnly: 5, isOn: true, missing: null, dead: ['a', 'b'], kind: 'b', others: ['y', 'z'] },
  );
  const answer = (await redis.eval(bound.text, bound.keyCount, ...words)) as string[];

  expect(bound.read(answer)).toEqual({
    ...{ key: 'k:{u}:1', twice: 42, greeting: 'a "word"', joined: 'x5', on: 'on', isMissing: true, isDead: true },
    ...{ kind: 'b', others: 'y+z', events: LIMITS.logEvents, word: 'u' },
    ...{ own: [{ tag: 'id', value: 7 }], more: 'x', absent: null },
  });
});

test('an answer of many kinds is one of them, and what follows is read to its end', () => {
  const defineScript = definerOf("return { 'OK' }");
  const found = { found: { atMs: maybeNumber, list: rest(rows({ id: text, n: number })) }, lost: {} };
  const script = defineScript('note-add', { keys: ['one'], reply: variants('outcome', found) });
  const { read } = bindScript(script, false, []);
  expect(read(['OK', 'found', '', 'a', '1', 'b', 2])).toEqual({
    ...{ outcome: 'found', atMs: null },
    list: [
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
    ],
  });
  expect(read(['OK', 'lost'])).toEqual({ outcome: 'lost' });
  expect(() => read(['OK', 'burnt'])).toThrow('burnt');
  expect(fieldMap.read(['a', '1', 'b', '2'])).toEqual(
    new Map([
      ['a', '1'],
      ['b', '2'],
    ]),
  );
});

test('what a script refuses with is thrown as that error', () => {
  const script = definerOf("return { 'OK' }")('note-add', { keys: ['one'], rate: 'message' });
  const { read } = bindScript(script, false, []);
  expect(() => read(['not_found'])).toThrow(expect.objectContaining({ code: 'not_found' }));
  expect(() => read(['rate_limited', '120', '4000'])).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  expect(() => read(['no_such_code'])).toThrow(expect.objectContaining({ code: 'internal' }));
});

test.each([
  ['a limit that there is not', 'return LIMITS.neverHeardOf', text, 'LIMITS.neverHeardOf'],
  ['a name that hides a function', '-- uses: note\nreturn note', text, 'note'],
])('the service does not start with %s', (_, lua, kind, what) => {
  const defineScript = definerOf(lua, { 'redis/prelude/note.lua': 'local function note() end' });
  const script = defineScript('note-add', { keys: ['one'], args: { note: kind } });
  expect(() => bindScript(script, false, [])).toThrow(what);
});
