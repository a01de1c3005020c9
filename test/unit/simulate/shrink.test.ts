import { makeRandom } from '../../chaos/random.ts';
import { drawPlan, type Plan } from '../../simulate/plan.ts';
import { shrink } from '../../simulate/shrink.ts';

const planOf = (seed: string): Plan => drawPlan(makeRandom(seed));

test('a plan that fails by one fault shrinks to that fault and to the least of all else', async () => {
  const plan = planOf('with several faults');
  expect(plan.faults.length).toBeGreaterThan(2);
  const [, guilty] = plan.faults;

  const { plan: smallest } = await shrink(
    plan,
    ({ faults }) => Promise.resolve(faults.includes(guilty as never)),
    1_000,
  );

  expect(smallest.faults).toEqual([guilty]);
  expect(smallest).toMatchObject({ replicas: 2, devices: plan.perAccount, rate: 1, files: 0, transfers: 0 });
});

test('a plan of which every part is needed stays as it is', async () => {
  const plan = planOf('another');
  expect((await shrink(plan, () => Promise.resolve(false), 1_000)).plan).toBe(plan);
});

test('shrinking ends after as many runs as are allowed', async () => {
  let runs = 0;
  const shrunk = await shrink(
    planOf('a third'),
    () => {
      runs += 1;
      return Promise.resolve(runs % 2 === 0);
    },
    5,
  );
  expect(runs).toBe(5);
  expect(shrunk.runs).toBe(5);
});
