import { median, medianOfEach } from './figures.mjs';

/** What Baton is held against: `classes` is Express with the request classes that Baton uses. */
export const OTHERS = ['floor', 'express', 'classes'];
export const KINDS = [...OTHERS, 'baton'];

/** Kinds in the order of a round: each is first as often as the others. */
export const orderOf = (round) => KINDS.map((_, i) => KINDS[(round + i) % KINDS.length]);

/** Baton's figure over another's, round by round: the parts of a round saw the same machine. */
const ratios = (baton, other) =>
  Object.fromEntries(
    Object.keys(other[0]).map((name) => [name, median(baton.map((round, i) => round[name] / other[i][name]))]),
  );

/** What the rounds of each kind come to: `{floor, express, classes, baton, ratio: {floor, express, classes}, rounds}`. */
export function summaryOf(rounds) {
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, medianOfEach(rounds[kind])]));
  const ratio = Object.fromEntries(OTHERS.map((kind) => [kind, ratios(rounds.baton, rounds[kind])]));
  return { ...kinds, ratio, rounds };
}

/**
 * Sides of all kinds beside each other, and steps that are taken round by round. `step.run(side, found)` gives figures, and
 * sees those of the steps before; `[{name, title, floor, express, classes, baton, ratio, rounds}]`.
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

/** Starts a side of every kind, one after the other; ends those that are there when that fails. */
export async function withSides(makeOne, act) {
  const sides = {};
  try {
    for (const kind of KINDS) sides[kind] = await makeOne(kind);
    return await act(sides);
  } finally {
    await Promise.all(Object.values(sides).map((side) => side.stop()));
  }
}
