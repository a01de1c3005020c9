import { readFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Describes a mutant for reports and explained.txt: by its text, so that other changes of the file do not matter. */
export function describeMutant(text, { start, end, to }) {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const line = text.slice(from, text.indexOf('\n', end));
  const plain = (part) => part.replaceAll(/\s+/g, ' ').trim();
  const nth = text.slice(from, start).split(text.slice(start, end)).length;
  const which = nth > 1 ? ` (${nth})` : '';
  return { line: plain(line), change: `${plain(text.slice(start, end))}${which} -> ${plain(to) || 'nothing'}` };
}

/** Returns the mutants of explained.txt. Throws for a line without a reason. */
export function explainedMutants(text = read('./explained.txt')) {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((row) => {
    const [file, line, change, why] = row.split(' | ');
    if (!why) throw new Error(`explained.txt: no reason in "${row}"`);
    return { file, line, change };
  });
}

export const committedScores = () => JSON.parse(read('./scores.json'));

/**
 * Returns what is wrong with the result of a file compared with its committed score; null if nothing is. A run that left
 * mutants out cannot show a score, but it must not show more survivors than the whole file has.
 */
export function flawOf({ killed, total, survivors, isWhole }, committed) {
  if (committed === undefined) return 'it has no score yet: run it whole with --accept';
  const allowed = committed.total - committed.killed;
  // A file without mutants had no survivor.
  const isLower = committed.total === 0 ? killed < total : killed * committed.total < committed.killed * total;
  if (isWhole && isLower) return `${killed} of ${total} killed, after ${committed.killed} of ${committed.total}`;
  if (!isWhole && survivors > allowed)
    return `${survivors} survivors in a part of the file, after ${allowed} in all of it`;
  return null;
}
