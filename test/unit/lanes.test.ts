import { makeLanes } from '../../services/sync/lanes.ts';

/** Makes work that ends when it is told to. `begun` has the names of work, in the order in which it began. */
function makeWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    end: (name: string) => ends.get(name)?.(),
    work: (name: string) => () =>
      new Promise<string>((resolve) => {
        begun.push(name);
        ends.set(name, () => resolve(`${name} is done`));
      }),
  };
}

/** Waits until every promise that can go on has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('as much is under way as a lane is wide, and the rest begins in the order in which it came', async () => {
  const lanes = makeLanes(2);
  const { begun, end, work } = makeWork();
  const runs = ['first', 'second', 'third', 'fourth', 'fifth'].map((name) => lanes.run('one', work(name)));
  expect(begun).toEqual(['first', 'second']);
  expect(lanes.waiting('one')).toBe(3);

  end('second');
  await settled();
  expect(begun).toEqual(['first', 'second', 'third']);
  for (const name of ['first', 'third']) end(name);
  await settled();
  expect(begun).toEqual(['first', 'second', 'third', 'fourth', 'fifth']);
  for (const name of begun) end(name);
  expect(await Promise.all(runs)).toEqual(begun.map((name) => `${name} is done`));
});

test('lanes do not hold up one another', () => {
  const lanes = makeLanes(1);
  const { begun, work } = makeWork();
  for (const name of ['slow', 'slower']) void lanes.run('slow', work(name));
  void lanes.run('quick', work('quick'));
  expect(begun).toEqual(['slow', 'quick']);
});

test('work that fails tells its caller, and gives its slot to the next', async () => {
  const lanes = makeLanes(1);
  const { begun, end, work } = makeWork();
  const failed = lanes.run('one', () => Promise.reject(new Error('no')));
  const second = lanes.run('one', work('second'));
  await expect(failed).rejects.toThrow('no');
  await settled();
  // Work that comes now does not get a slot of its own.
  const third = lanes.run('one', work('third'));
  expect(begun).toEqual(['second']);
  end('second');
  await second;
  await settled();
  end('third');
  expect(await third).toBe('third is done');
});

test('a slot that nobody waits for is kept, and a lane gets no wider', async () => {
  const lanes = makeLanes(1);
  const { begun, end, work } = makeWork();
  const first = lanes.run('one', work('first'));
  end('first');
  await first;
  const others = ['second', 'third'].map((name) => lanes.run('one', work(name)));
  expect(begun).toEqual(['first', 'second']);
  end('second');
  await settled();
  end('third');
  await Promise.all(others);
  expect(begun).toEqual(['first', 'second', 'third']);
});

test('work beyond what may wait is refused, and what waited too long gives its place to the next', async () => {
  const lanes = makeLanes(1, { most: 1, ms: 20, refusal: () => new Error('busy') });
  const { begun, end, work } = makeWork();
  const first = lanes.run('one', work('first'));
  const late = lanes.run('one', work('late'));
  await expect(lanes.run('one', work('surplus'))).rejects.toThrow('busy');
  await expect(late).rejects.toThrow('busy');
  expect(lanes.waiting('one')).toBe(0);

  const next = lanes.run('one', work('next'));
  end('first');
  await first;
  await settled();
  end('next');
  expect(await next).toBe('next is done');
  expect(begun).toEqual(['first', 'next']);
});
