import { Owner, SimulatedClock } from '../../simulate/world/clock.ts';
import { commandOf, ValueReader, wordsOf } from '../../simulate/world/resp.ts';

/** Runs everything that is due, and returns what happened when. */
function runAll(clock: SimulatedClock): string[] {
  const happened: string[] = [];
  for (let next = clock.next(); next !== null; next = clock.next()) happened.push(`${clock.nowUs} ${next.owner.name}`);
  return happened;
}

test('things happen by their time, and those of one time in the order in which they were given', () => {
  const clock = new SimulatedClock();
  for (const us of [30, 10, 20, 10, 40, 10]) clock.after(us, new Owner(`${us}`), () => undefined);
  clock.after(10, new Owner('last of 10'), () => undefined);

  expect(runAll(clock)).toEqual(['10 10', '10 10', '10 10', '10 last of 10', '20 20', '30 30', '40 40']);
});

test('what is due at a paused owner happens when it goes on, and nothing happens to a killed one', () => {
  const clock = new SimulatedClock();
  const [paused, killed] = [new Owner('paused'), new Owner('killed')];
  for (const us of [10, 20]) clock.after(us, paused, () => undefined);
  clock.after(15, killed, () => undefined);
  clock.after(30, new Owner('other'), () => undefined);
  paused.pausedUntilUs = 50;
  killed.isKilled = true;

  expect(runAll(clock)).toEqual(['30 other', '50 paused', '50 paused']);
});

test('values are found however the bytes are cut', () => {
  const values = [
    '+OK\r\n',
    '$-1\r\n',
    '*2\r\n:1\r\n$2\r\n\r\n\r\n',
    '%1\r\n+a\r\n*0\r\n',
    '>2\r\n+message\r\n$1\r\nx\r\n',
    '_\r\n',
  ];
  const bytes = Buffer.from(values.join(''));
  for (let size = 1; size <= bytes.length; size += 1) {
    const reader = new ValueReader();
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      found.push(...reader.take(bytes.subarray(at, at + size)).map(String));
    expect(found).toEqual(values);
  }
});

test('the words of a command are those that it was made of', () => {
  const words = ['SET', '', 'line\r\nend', 'grün'];
  expect(wordsOf(Buffer.from(commandOf(...words)))).toEqual(words);
});
