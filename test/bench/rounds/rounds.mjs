import { median, medianOfEach } from './figures.mjs';

/** The servers that Baton is compared with: `classes` is Express with the request classes that Baton uses. */
export const OTHERS = ['floor', 'express', 'classes'];
export const KINDS = [...OTHERS, 'baton'];

/** Returns the kinds in the order of a round. Each comes first as often as the others. */
export const orderOf = (round) => KINDS.map((_, i) => KINDS[(round + i) % KINDS.length]);

/** Compares Baton's figure with another's, round by round, because the parts of a round saw the same machine. */
const ratios = (baton, other) =>
  Object.fromEntries(
    Object.keys(other[0]).map((name) => [name, median(baton.map((round, i) => round[name] / other[i][name]))]),
  );

/** Sums up the rounds of each kind: `{floor, express, classes, baton, ratio: {floor, express, classes}, rounds}`. */
export function summaryOf(rounds) {
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, medianOfEach(rounds[kind])]));
  const ratio = Object.fromEntries(OTHERS.map((kind) => [kind, ratios(rounds.baton, rounds[kind])]));
  return { ...kinds, ratio, rounds };
}

/**
 * Runs steps round by round, with sides of all kinds in turn. `step.run(side, found)` returns figures, and sees those of the
 * steps before. Returns `[{name, title, floor, express, classes, baton, ratio, rounds}]`.
 */
export async function inRounds({ rounds, steps, sides, say }) {
  const found = new Map(steps.map((step) => [step, Object.fromEntries(KINDS.map((kind) => [kind, []]))]));
  for (let round = 0; round < rounds; round += 1) {
    for (const step of steps) {
      say(`round ${round + 1} of ${rounds}: ${step.title}`);
      for (const kind of orderOf(round)) {
        found.get(step)[kind].push(await step.run(sides[kind], found));
      }
    }
  }
  return steps.map((step) => ({ name: step.name, title: step.title, ...summaryOf(found.get(step)) }));
}

/** Starts a side of every kind, one after the other. When one fails, ends those that are there. */
export async function withSides(makeOne, act) {
  const sides = {};
  try {
    for (const kind of KINDS) sides[kind] = await makeOne(kind);
    return await act(sides);
  } finally {
    await Promise.all(Object.values(sides).map((side) => side.stop()));
  }
}
