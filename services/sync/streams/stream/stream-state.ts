export type StateName = 'opening' | 'catchingUp' | 'live' | 'behind' | 'ending' | 'closed';

interface Transition {
  from: readonly StateName[];
  to: StateName;
}

const TRANSITIONS = {
  attached: { from: ['opening'], to: 'catchingUp' },
  openingFailed: { from: ['opening'], to: 'behind' },
  caughtUp: { from: ['catchingUp'], to: 'live' },
  catchUpFailed: { from: ['catchingUp'], to: 'behind' },
  retried: { from: ['behind'], to: 'catchingUp' },
  fellBehind: { from: ['live'], to: 'catchingUp' },
  restarted: { from: ['catchingUp', 'live', 'behind'], to: 'opening' },
  ended: { from: ['opening', 'catchingUp', 'live', 'behind'], to: 'ending' },
  closed: { from: ['opening', 'catchingUp', 'live', 'behind', 'ending'], to: 'closed' },
} satisfies Record<string, Transition>;

/**
 * What a stream is doing.
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
 * These are all transitions. One that is not possible in the present state changes nothing and returns false. Who makes
 * them, and when, says services/sync/streams/README.md.
 */
export class StreamState {
  #name: StateName = 'opening';

  get name(): StateName {
    return this.#name;
  }

  get isOpening(): boolean {
    return this.#name === 'opening';
  }

  /** Events are delivered to it as they come. */
  get isLive(): boolean {
    return this.#name === 'live';
  }

  /** It waits for the sweeper to attach it. */
  get isBehind(): boolean {
    return this.#name === 'behind';
  }

  /** Nothing will be written any more: the last frame is on its way, or the stream has closed. */
  get isOver(): boolean {
    return this.#name === 'ending' || this.#name === 'closed';
  }

  /** The store has the route, and the client its `ready` where one was due. */
  attached(): boolean {
    return this.#go('attached');
  }

  /** A stream that has had its `ready` could not be attached anew. */
  openingFailed(): boolean {
    return this.#go('openingFailed');
  }

  /** The end of the log was reached, and every later event is announced to it. */
  caughtUp(): boolean {
    return this.#go('caughtUp');
  }

  /** The log, or what is pending, could not be read. */
  catchUpFailed(): boolean {
    return this.#go('catchUpFailed');
  }

  /** One that was behind has been attached, and reads on. */
  retried(): boolean {
    return this.#go('retried');
  }

  /** It missed an event, or cannot be written to: it reads the log from its position. */
  fellBehind(): boolean {
    return this.#go('fellBehind');
  }

  /** Its position or its presence was lost: it is opened anew. */
  restarted(): boolean {
    return this.#go('restarted');
  }

  /** The last frame is written. */
  ended(): boolean {
    return this.#go('ended');
  }

  /** The response has closed, or another answer is given in its place. */
  closed(): boolean {
    return this.#go('closed');
  }

  #go(transition: keyof typeof TRANSITIONS): boolean {
    const { from, to }: Transition = TRANSITIONS[transition];
    if (!from.includes(this.#name)) return false;
    this.#name = to;
    return true;
  }
}
