import { bindScript } from '../../../shared/service-kit/redis/scripts/bound-script.ts';
import { declaredScripts, scriptFiles } from '../../support/declared-scripts.ts';
import { connectTo, sharedRedisUrl } from '../../support/redis/redis.ts';

const GIVEN =
  'redis cjson string table math tonumber tostring ipairs pairs pcall error type unpack KEYS ARGV and break do else elseif end '
    .concat('false for function if in local nil not or repeat return then true until while')
    .split(' ');

/** Returns names that a script uses and that nobody has given it. */
function unknownNames(text: string): string[] {
  const code = text.replaceAll(/(--|^#!).*$/gm, '').replaceAll(/'(\\.|[^'\\])*'|"(\\.|[^"\\])*"/g, "''");
  const known = new Set(GIVEN);
  for (const [, names = ''] of code.matchAll(/\b(?:local|for) (?!function)((?:\w+(?:,\s*)?)+)/g)) {
    for (const name of names.split(/,\s*/)) known.add(name);
  }
  for (const [, name = '', parameters = ''] of code.matchAll(/\bfunction ?(\w*)\(([^)]*)\)/g)) {
    for (const each of [name, ...parameters.split(/,\s*/)]) known.add(each);
  }
  // Members do not count, nor do the names of fields in tables, which follow a brace or a comma.
  const bare = code.replaceAll(/(?<!\.)\.[A-Za-z_]\w*/g, '').replaceAll(/(?<=[{,]\s*)[A-Za-z_]\w*(?= =(?!=))/g, '');
  const used = [...bare.matchAll(/(?<![\w'])[A-Za-z_]\w*/g)].map(([name]) => name);
  return [...new Set(used.filter((name) => !known.has(name)))];
}

test('every script is declared, is understood by the store, and knows every name that it uses', async () => {
  const declarations = await declaredScripts();
  expect([...declarations.keys()].toSorted()).toEqual(scriptFiles().toSorted());

  const redis = connectTo(sharedRedisUrl());
  const unknown = [];
  for (const [file, declared] of declarations) {
    const settings = Object.fromEntries(declared.settings.map((name) => [name, 1]));
    const { text } = bindScript(declared, true, [settings]);
    await redis.script('LOAD', text);
    const names = unknownNames(text);
    if (names.length > 0) unknown.push({ file, names });
  }
  redis.disconnect();
  expect(unknown).toEqual([]);
});
