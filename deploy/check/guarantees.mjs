import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder, ROOT } from '../local/setup/tree.mjs';

const PAGE = 'services/GUARANTEES.md';
const REASONS = 'deploy/check/guarantees.mjs';

const textOf = (path) => readFileSync(join(ROOT, path), 'utf8');

/** Returns the numbers of the promised sentences, in the order of the page. */
const promised = () => [...textOf(PAGE).matchAll(/^- \*\*(G\d+)\*\*/gm)].map(([, number]) => number);

/** Returns the title of a test: the first quoted text from its line on. */
const titleOf = (code) => /\b(?:test|it)\b[^'"]*(['"])(.*?)(?<!\\)\1/s.exec(code)?.[2] ?? '';

/** Returns each citation (`// Proves G1, G2.` on the line before a test) with its number, the file and the test. */
function citations() {
  const files = filesUnder('test').filter((path) => path.endsWith('.ts') && !path.startsWith('test/gates/'));
  return files.flatMap((path) => {
    const text = textOf(path);
    return [...text.matchAll(/^ *\/\/ Proves (G\d+(?:, G\d+)*)\.$/gm)].flatMap(({ 0: line, 1: numbers, index }) => {
      const title = titleOf(text.slice(index + line.length));
      return numbers.split(', ').map((number) => ({ number, path, title }));
    });
  });
}

/** Returns the models that prove a guarantee: `\* Proves G1, G18: why.` before a property. */
function models() {
  const files = filesUnder('test/models').filter((path) => path.endsWith('.tla'));
  return files.flatMap((path) =>
    [...textOf(path).matchAll(/^\\\* Proves (G\d+(?:, G\d+)*):/gm)].flatMap(([, numbers]) =>
      numbers.split(', ').map((number) => ({ number, path })),
    ),
  );
}

/**
 * Returns the checks of histories that judge a guarantee: `// Judges G1, G4.` before the line with the quoted promise.
 */
function checkers() {
  const folders = ['test/chaos', 'test/simulate'].flatMap((folder) => filesUnder(folder));
  const files = folders.filter((path) => path.endsWith('.ts') || path.endsWith('.go'));
  return files.flatMap((path) =>
    [...textOf(path).matchAll(/^\s*\/\/ Judges (G\d+(?:, G\d+)*)\.\n.*?(?:'(.*)'|: +"(.*)"),?.*$/gm)].flatMap(
      ([, numbers, ours, go]) => numbers.split(', ').map((number) => ({ number, path, title: ours ?? go })),
    ),
  );
}

/** Why a guarantee has neither a model nor a checker of histories. */
const TESTS_ALONE = {
  G8: 'the kernel decides when',
  G13: 'says what a word means; G14 to G17 and G20 say what follows',
  G14: '`WAIT` of Redis decides; the tests kill and stop real servers',
  G15: 'as G14',
  G16: 'as G14',
  G17: 'as G14',
  G34: 'as G14',
  G21: 'a time, which the tests measure',
  G23: 'one write that all read; the runs of chaos sign nobody out',
  G24: 'as G23',
  G26: 'the runs of chaos have no push service',
  G27: 'a time and a place, which the tests read',
  G33: 'as G27',
  G28: 'a size, which the tests measure',
  G29: 'as G28',
  G30: 'as G28',
  G31: 'as G28; `test:neighbour` measures it too',
};

/** Returns guarantees that no test cites, and citations of numbers that the page does not promise. */
export function findUnprovenGuarantees() {
  const [numbers, cited] = [promised(), citations()];
  const proven = new Set([...models(), ...checkers()].map(({ number }) => number));
  const repeated = numbers.filter((number, i) => numbers.indexOf(number) !== i);
  return [
    ...repeated.map((number) => `${PAGE}: ${number} is there twice`),
    ...numbers
      .filter((one) => !cited.some(({ number }) => number === one))
      .map((one) => `${PAGE}: no test cites ${one}`),
    ...[...cited, ...models(), ...checkers()]
      .filter(({ number }) => !numbers.includes(number))
      .map(({ number, path }) => `${path}: there is no ${number}`),
    ...numbers
      .filter((one) => proven.has(one) === Object.hasOwn(TESTS_ALONE, one))
      .map((one) => `${PAGE}: ${one} needs a model or a checker, or a reason why it has none (${REASONS})`),
  ];
}

/** Returns the rows of the table in test/README.md: a guarantee, and a test that proves it. */
export const guaranteeRows = () => {
  const cited = citations();
  return promised().flatMap((one) =>
    cited
      .filter(({ number }) => number === one)
      .map(({ path, title }) => [one, `\`${path.replace('test/', '')}\`: ${title}`]),
  );
};

/**
 * Returns the rows of the other table in test/README.md: a guarantee, its models, and the checks that judge histories
 * by it.
 */
export const proofRows = () =>
  promised().map((one) => {
    const of = (all) => all.filter(({ number }) => number === one);
    const paths = new Set(of(models()).map(({ path }) => `\`${path.replace('test/', '')}\``));
    const judges = of(checkers()).map(({ path, title }) => `\`${path.replace('test/', '')}\`: ${title}`);
    return [one, [...paths].join(', ') || '-', judges.join('; ') || '-', TESTS_ALONE[one] ?? ''];
  });
