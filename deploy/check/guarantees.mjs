import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder, ROOT } from '../local/setup/tree.mjs';

const PAGE = 'services/GUARANTEES.md';

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

/** Returns guarantees that no test cites, and citations of numbers that the page does not promise. */
export function findUnprovenGuarantees() {
  const [numbers, cited] = [promised(), citations()];
  const repeated = numbers.filter((number, i) => numbers.indexOf(number) !== i);
  return [
    ...repeated.map((number) => `${PAGE}: ${number} is there twice`),
    ...numbers
      .filter((one) => !cited.some(({ number }) => number === one))
      .map((one) => `${PAGE}: no test cites ${one}`),
    ...cited
      .filter(({ number }) => !numbers.includes(number))
      .map(({ number, path }) => `${path}: there is no ${number}`),
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
