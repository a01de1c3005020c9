export type StateName = 'opening' | 'catchingUp' | 'live' | 'behind' | 'ending' | 'closed';

interface Transition {
  from: readonly StateName[];
  to: StateName;
}

/** The state transitions of a stream, each with the event that it stands for. */
export const TRANSITIONS = {
  /** The store has the route, and the client has its `ready` if one was due. */
  attached: { from: ['opening'], to: 'catchingUp' },
  /** A stream that has had its `ready` could not be attached again. */
  openingFailed: { from: ['opening'], to: 'behind' },
  /** The end of the log was reached, and every later event is announced to it. */
  caughtUp: { from: ['catchingUp'], to: 'live' },
  /** The log, or what is pending, could not be read. */
  catchUpFailed: { from: ['catchingUp'], to: 'behind' },
  /** A stream that was behind has been attached, and reads on. */
  retried: { from: ['behind'], to: 'catchingUp' },
  /** The stream missed an event, or cannot be written to, and reads the log from its position. */
  fellBehind: { from: ['live'], to: 'catchingUp' },
  /** The position or the presence was lost, and the stream is opened again. */
  restarted: { from: ['catchingUp', 'live', 'behind'], to: 'opening' },
  /** The last frame is written. */
  ended: { from: ['opening', 'catchingUp', 'live', 'behind'], to: 'ending' },
  /** The response has closed, or another answer is given in its place. */
  closed: { from: ['opening', 'catchingUp', 'live', 'behind', 'ending'], to: 'closed' },
} satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;

/**
 * The state of a stream.
 *
 *                 attached                caughtUp
 *     opening ----------------> catchingUp --------> live
 *      |  ^  ^                   |  |  ^  ^           | |
 *      |  |  +-----restarted-----+  |  |  +-fellBehind+ |
 *      |  |                         |  |                |
 *      |  |           catchUpFailed |  | retried        |
 *      |  |                         v  |                |
 *      |  +------restarted-------- behind               |
 *      |  +------restarted------------------------------+
 *      |                            ^
 *      +-------openingFailed--------+
 *
 *     each of these four --ended--> ending --closed--> closed        each of these four --closed--> closed
 *
 * These are all transitions.
 * services/sync/streams/README.md says who makes them, and when.
 */
export class StreamState {
  #name: StateName = 'opening';

  get name(): StateName {
    return this.#name;
  }

  get isOpening(): boolean {
    return this.#name === 'opening';
  }

  /** Whether events are delivered to the stream as they come. */
  get isLive(): boolean {
    return this.#name === 'live';
  }

  /** Whether the stream waits for the sweeper to attach it. */
  get isBehind(): boolean {
    return this.#name === 'behind';
  }

  /** Whether nothing more will be written: the last frame is on its way, or the stream has closed. */
  get isOver(): boolean {
    return this.#name === 'ending' || this.#name === 'closed';
  }

  /** Makes a transition. One that is not possible in the current state changes nothing and returns false. */
  go(transition: TransitionName): boolean {
    const { from, to }: Transition = TRANSITIONS[transition];
    if (!from.includes(this.#name)) return false;
    this.#name = to;
    return true;
  }
}
