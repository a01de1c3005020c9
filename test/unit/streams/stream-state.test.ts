import { Stream } from '../../../services/sync/streams/stream/stream.ts';
import {
  type StateName,
  StreamState,
  TRANSITIONS,
  type TransitionName,
} from '../../../services/sync/streams/stream/stream-state.ts';
import { Client, newStream } from './new-stream.ts';

/** The diagram: state -> transition -> the state after it. Anything that is missing here is impossible. */
const DIAGRAM: Record<StateName, Partial<Record<TransitionName, StateName>>> = {
  opening: { attached: 'catchingUp', openingFailed: 'behind', ended: 'ending', closed: 'closed' },
  catchingUp: {
    caughtUp: 'live',
    catchUpFailed: 'behind',
    restarted: 'opening',
    ended: 'ending',
    closed: 'closed',
  },
  live: { fellBehind: 'catchingUp', restarted: 'opening', ended: 'ending', closed: 'closed' },
  behind: { retried: 'catchingUp', restarted: 'opening', ended: 'ending', closed: 'closed' },
  ending: { closed: 'closed' },
  closed: {},
};

/** How each state is reached from the first one. */
const PATHS: Record<StateName, readonly TransitionName[]> = {
  opening: [],
  catchingUp: ['attached'],
  live: ['attached', 'caughtUp'],
  behind: ['openingFailed'],
  ending: ['ended'],
  closed: ['closed'],
};

const STATES = Object.keys(DIAGRAM) as StateName[];

/** Returns the getters and methods of a class, except its constructor. */
const membersOf = (prototype: object): [string, PropertyDescriptor][] =>
  Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([name]) => name !== 'constructor');

const methodsOf = (prototype: object): string[] =>
  membersOf(prototype).flatMap(([name, { value }]) => (typeof value === 'function' ? [name] : []));

const NAMES = Object.keys(TRANSITIONS) as TransitionName[];

function stateIn(name: StateName): StreamState {
  const state = new StreamState();
  for (const transition of PATHS[name]) state.go(transition);
  expect(state.name).toBe(name);
  return state;
}

test.each(STATES.flatMap((from) => NAMES.map((transition) => [from, transition] as const)))(
  'from %s, %s does what the diagram says, or nothing',
  (from, transition) => {
    const state = stateIn(from);
    const to = DIAGRAM[from][transition];
    expect(state.go(transition)).toBe(to !== undefined);
    expect(state.name).toBe(to ?? from);
  },
);

test('every transition of the code is in the diagram, and nothing else can set the state', () => {
  expect(new Set(Object.values(DIAGRAM).flatMap((possible) => Object.keys(possible)))).toEqual(new Set(NAMES));
  for (const [name, { set }] of membersOf(StreamState.prototype)) expect([name, set]).toEqual([name, undefined]);
  expect(Object.keys(new StreamState())).toEqual([]);
});

describe('a stream', () => {
  /** Makes a stream and brings it into this state by calls of the product. */
  function streamIn(name: StateName): { client: Client; stream: Stream } {
    const client = new Client();
    // The socket closes when the test says so.
    client.end = () => undefined;
    const stream = newStream({ client });
    if (name === 'catchingUp' || name === 'live') stream.state.go('attached');
    if (name === 'live') stream.state.go('caughtUp');
    if (name === 'behind') stream.state.go('openingFailed');
    if (name === 'ending') stream.end('rotate', 100);
    if (name === 'closed') stream.close();
    expect(stream.state.name).toBe(name);
    return { client, stream };
  }

  /** What its methods do to the state. All others do not change it. */
  const OWN: Readonly<Record<string, TransitionName>> = {
    restart: 'restarted',
    end: 'ended',
    endRevoked: 'ended',
    close: 'closed',
  };

  test.each(STATES.flatMap((from) => methodsOf(Stream.prototype).map((method) => [from, method] as const)))(
    'that is %s changes its state by %s only as the diagram says',
    (from, method) => {
      const { stream } = streamIn(from);
      const transition = OWN[method];
      const to = transition && DIAGRAM[from][transition];
      (Reflect.get(stream, method) as (...args: unknown[]) => unknown).call(stream, Buffer.from('x'), 1, 1, true);
      expect(stream.state.name).toBe(to ?? from);
    },
  );

  test.each(STATES)('that is %s is written to until its last frame', (from) => {
    const { client, stream } = streamIn(from);
    const isOver = from === 'ending' || from === 'closed';
    expect(stream.isOver).toBe(isOver);
    expect(stream.socket.isOver).toBe(isOver);
    const before = client.text;
    stream.socket.write(Buffer.from('more'));
    expect(client.text).toBe(isOver ? before : `${before}more`);
  });

  test('has its fields to itself', () => {
    const { stream } = streamIn('live');
    for (const part of [Stream, StreamState]) {
      for (const [name, { set }] of membersOf(part.prototype)) expect([name, set]).toEqual([name, undefined]);
    }
    // Each public field says who the stream is, or is a part with methods of its own.
    expect(Object.keys(stream).sort()).toEqual(
      ['account', 'askedAtMs', 'attaches', 'caller', 'device', 'id', 'position', 'rotation', 'socket', 'state'].sort(),
    );
  });

  test('that is opened anew needs all of the presence, and nothing of the opening before', () => {
    const { stream } = streamIn('live');
    stream.sendReady(Buffer.from('ready'), null, 7, false);
    stream.attaches.postpone('gap');
    expect(stream.restart()).toBe(true);
    expect(stream.presenceVersion).toBe(0);
    expect(stream.attaches.takePostponed()).toBeUndefined();
    expect(stream.readySent).toBe(true);
  });

  test('needs another ready only once it has had one and lost what it said', () => {
    const { stream } = streamIn('opening');
    stream.outdateReady();
    expect([stream.readySent, stream.needsReady]).toEqual([false, true]);
    stream.sendReady(Buffer.from('ready'), null, 7, false);
    expect([stream.readySent, stream.needsReady]).toEqual([true, false]);
    stream.outdateReady();
    expect([stream.readySent, stream.needsReady]).toEqual([true, true]);
  });
});
