import fc from 'fast-check';
import { type Bundle, makeBundle } from '../../../../shared/client/peer-to-peer/bundle.ts';
import { asChannel, channelPair, type FakeChannel } from './fake-peers.ts';

/* Several channels act as one pipe, in any order of their messages, and with lost channels. */

const MESSAGE_BYTES = 64;
const WINDOW_BYTES = 8 * 1024 * 1024;

interface End {
  bundle: Bundle;
  came: unknown[];
  signals: unknown[];
  misbehaved: number;
}

function makeEnd(messageBytes = MESSAGE_BYTES): End {
  const end: Omit<End, 'bundle'> = { came: [], signals: [], misbehaved: 0 };
  const bundle = makeBundle({
    messageBytes,
    onSignal: (about) => void end.signals.push(about),
    onMisbehaved: () => {
      end.misbehaved += 1;
    },
  });
  bundle.pipe.listen(
    (data) => void end.came.push(typeof data === 'string' ? data : [...(data as Uint8Array)]),
    () => {},
  );
  return Object.assign(end, { bundle });
}

function makeEnds(count: number) {
  const ends = [makeEnd(), makeEnd()] as const;
  const pairs = Array.from({ length: count }, channelPair);
  for (const [one, two] of pairs) {
    ends[0].bundle.add(asChannel(one));
    ends[1].bundle.add(asChannel(two));
  }
  return { ends, pairs };
}

/** Makes a frame as another program might. */
function frame(kind: number, number: number, counted: number, content: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const made = new Uint8Array(9 + bytes.length);
  made[0] = kind;
  new DataView(made.buffer).setUint32(1, number);
  new DataView(made.buffer).setUint32(5, counted);
  made.set(bytes, 9);
  return made;
}

type Step =
  | { do: 'send'; from: 0 | 1; what: 'word' | 'bytes' | 'signal' }
  | { do: 'deliver'; from: 0 | 1; on: number }
  | { do: 'lose'; on: number }
  | { do: 'notice'; at: 0 | 1; on: number };

const side = fc.constantFrom(0 as const, 1 as const);
const on = fc.nat({ max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      from: side,
      what: fc.constantFrom('word' as const, 'bytes' as const, 'signal' as const),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('deliver' as const), from: side, on }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), on }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('notice' as const), at: side, on }) },
);

test('everything comes once and in order, whichever channels are late or lost, as long as one is left', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const { ends, pairs } = makeEnds(4);
      const sent: [unknown[], unknown[]] = [[], []];
      const signalled: [unknown[], unknown[]] = [[], []];
      const lost = new Set<number>();
      const drop = (at: 0 | 1, index: number) =>
        ends[at].bundle.drop(asChannel((pairs[index] as FakeChannel[])[at] as FakeChannel));
      let made = 0;
      for (const one of steps) {
        if (one.do === 'send') {
          made += 1;
          if (one.what === 'signal') {
            signalled[one.from].push({ made });
            ends[one.from].bundle.signal({ made });
          } else {
            const bytes = Uint8Array.from([made % 256, one.from]);
            sent[one.from].push(one.what === 'word' ? `word ${made}` : [...bytes]);
            ends[one.from].bundle.pipe.send(one.what === 'word' ? `word ${made}` : bytes);
          }
        } else if (one.do === 'deliver') (pairs[one.on] as FakeChannel[])[one.from]?.deliver();
        else if (one.do === 'lose' && (lost.has(one.on) || lost.size < 3)) {
          lost.add(one.on);
          for (const channel of pairs[one.on] as FakeChannel[]) channel.end();
        } else if (one.do === 'notice' && lost.has(one.on)) drop(one.at, one.on);
      }
      // In the end both sides notice the loss, and everything else is delivered.
      for (const index of lost) for (const at of [0, 1] as const) drop(at, index);
      for (let went = true; went; )
        went = pairs
          .flat()
          .map((channel) => channel.deliver())
          .some(Boolean);
      expect(ends[1].came).toEqual(sent[0]);
      expect(ends[0].came).toEqual(sent[1]);
      expect(ends[1].signals).toEqual(signalled[0]);
      expect(ends[0].signals).toEqual(signalled[1]);
      expect([ends[0].misbehaved, ends[1].misbehaved]).toEqual([0, 0]);
    }),
    { numRuns: 400 },
  );
});

test('messages go by the channel with the fewest unsent bytes, so that a slow one holds few', () => {
  const { ends, pairs } = makeEnds(2);
  const [[fast], [slow]] = pairs as [[FakeChannel, FakeChannel], [FakeChannel, FakeChannel]];
  for (let index = 0; index < 40; index += 1) {
    ends[0].bundle.pipe.send(new Uint8Array(20));
    fast.deliver();
  }
  expect(fast.delivered.length).toBeGreaterThan(35);
  expect(slow.waiting.length).toBeLessThan(3);
});

test('a frame that is counted is not sent again', () => {
  const { ends, pairs } = makeEnds(2);
  const [first, second] = pairs as [[FakeChannel, FakeChannel], [FakeChannel, FakeChannel]];
  ends[0].bundle.pipe.send('one');
  first[0].deliver();
  // The answer confirms that one frame came.
  ends[1].bundle.pipe.send('two');
  for (const channel of [first[1], second[1]]) channel.deliver();
  ends[0].bundle.drop(asChannel(first[0]));
  expect(second[0].waiting).toEqual([]);
});

test('what is sent while no channel is open goes by the next one', () => {
  const { ends, pairs } = makeEnds(1);
  const [[one]] = pairs as [[FakeChannel, FakeChannel]];
  one.readyState = 'closing';
  ends[0].bundle.pipe.send('waits');
  expect(ends[0].bundle.pipe.isReady).toBe(false);
  const [next, far] = channelPair();
  ends[1].bundle.add(asChannel(far));
  ends[0].bundle.add(asChannel(next));
  next.deliver();
  expect(ends[1].came).toEqual(['waits']);
});

test.each<[string, string | Uint8Array<ArrayBuffer>]>([
  ['text', 'word'],
  ['a frame without a header', new Uint8Array(8)],
  ['an unknown kind', frame(7, 0, 0, 'x')],
  ['a number that no honest side has reached', frame(1, 16 * 1024, 0, 'x')],
  ['the highest number', frame(1, 0xffff_ffff, 0, 'x')],
  ['a count of frames that were never sent', frame(1, 0, 1, 'x')],
  ['bytes without a byte', frame(1, 0, 0, '')],
  ['a word that is longer than any', frame(0, 0, 0, 'x'.repeat(16 * 1024 + 1))],
])('%s is refused, and nothing of it is handed on', (_name, message) => {
  const end = makeEnd();
  const [mine, theirs] = channelPair();
  end.bundle.add(asChannel(mine));
  theirs.send(message);
  theirs.deliver();
  expect(end.misbehaved).toBe(1);
  expect(end.came).toEqual([]);
});

test('a side that leaves the first frame out is refused once a window waits for it', () => {
  const end = makeEnd(256 * 1024);
  const [mine, theirs] = channelPair();
  end.bundle.add(asChannel(mine));
  const bytes = new Uint8Array(256 * 1024 - 9);
  let number = 0;
  while (end.misbehaved === 0 && number < 100) {
    number += 1;
    theirs.send(frame(1, number, 0, bytes));
    theirs.deliver();
  }
  expect(number * bytes.length).toBeLessThanOrEqual(WINDOW_BYTES + 2 * 256 * 1024);
  expect(end.came).toEqual([]);
});

test('frames that come again take no part of the window', () => {
  const end = makeEnd(256 * 1024);
  const [mine, theirs] = channelPair();
  end.bundle.add(asChannel(mine));
  const bytes = new Uint8Array(256 * 1024 - 9);
  theirs.send(frame(0, 0, 0, 'first'));
  theirs.deliver();
  for (let times = 0; times < 100; times += 1) {
    theirs.send(frame(1, times % 2 === 0 ? 0 : 2, 0, bytes));
    theirs.deliver();
  }
  expect([end.came, end.misbehaved]).toEqual([['first'], 0]);
});

test('a signal that is no JSON is handed on as nothing', () => {
  const end = makeEnd();
  const [mine, theirs] = channelPair();
  end.bundle.add(asChannel(mine));
  theirs.send(frame(2, 0, 0, '{'));
  theirs.deliver();
  expect(end.signals).toEqual([null]);
});

test('a dropped channel is heard no more', () => {
  const end = makeEnd();
  const [mine, theirs] = channelPair();
  end.bundle.add(asChannel(mine));
  end.bundle.drop(asChannel(mine));
  theirs.send(frame(0, 0, 0, 'late'));
  theirs.deliver();
  expect([end.came, end.misbehaved]).toEqual([[], 0]);
});
