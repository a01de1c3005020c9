import { Permits } from '../../../services/sync/streams/delivery/permits.ts';

/** Acts that end when they are told to; `begun`: their names, in the order in which they began. */
function setUp(count: number) {
  const permits = new Permits(count);
  const withPermit = async <T>(act: () => Promise<T>): Promise<T> => {
    const turn = permits.take();
    if (turn !== null) await turn;
    try {
      return await act();
    } finally {
      permits.give();
    }
  };
  const begun: string[] = [];
  const begin = (name: string) => {
    let [end, fail] = [() => {}, () => {}];
    const ended = new Promise<string>((resolve, reject) => {
      end = () => resolve(`${name} is done`);
      fail = () => reject(new Error(`${name} failed`));
    });
    const done = withPermit(() => {
      begun.push(name);
      return ended;
    });
    return { done, end, fail };
  };
  return { begun, begin };
}

/** Every promise that can go on has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('as many act at once as there are permits, and the others begin in the order in which they came', async () => {
  const { begun, begin } = setUp(2);
  const acts = ['first', 'second', 'third', 'fourth', 'fifth'].map(begin);
  await settled();
  expect(begun).toEqual(['first', 'second']);

  acts[1]?.end();
  await settled();
  expect(begun).toEqual(['first', 'second', 'third']);
  acts[0]?.end();
  acts[2]?.end();
  await settled();
  expect(begun).toEqual(['first', 'second', 'third', 'fourth', 'fifth']);
  for (const act of acts) act.end();
  expect(await Promise.all(acts.map(({ done }) => done))).toEqual(begun.map((name) => `${name} is done`));
});

test('an act that fails tells its caller, and gives its permit to the next', async () => {
  const { begun, begin } = setUp(1);
  const [first, second] = [begin('first'), begin('second')];
  first.fail();
  await expect(first.done).rejects.toThrow('first failed');
  await settled();
  // One that comes now does not find a permit of its own.
  const third = begin('third');
  await settled();
  expect(begun).toEqual(['first', 'second']);
  second.end();
  third.end();
  expect(await Promise.all([second.done, third.done])).toEqual(['second is done', 'third is done']);
});

test('permits that nobody waits for are kept, and are no more than before', async () => {
  const { begun, begin } = setUp(1);
  const first = begin('first');
  first.end();
  await first.done;
  const [second, third] = [begin('second'), begin('third')];
  await settled();
  expect(begun).toEqual(['first', 'second']);
  second.end();
  third.end();
  await Promise.all([second.done, third.done]);
  expect(begun).toEqual(['first', 'second', 'third']);
});
