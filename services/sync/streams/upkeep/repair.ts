import { presenceView } from '../../presence/presence-view.ts';
import { sendPresence } from '../../presence/broadcast.ts';
import type { AccountSets } from '../../replicas/account-sets.ts';
import type { Replica } from '../../replicas/replica.ts';
import type { CatchUp } from '../delivery/catch-up.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { LocalStreams } from '../local-streams.ts';
import type { Opening } from '../opening/opening.ts';
import type { RowKeeper } from '../opening/row-keeper.ts';
import type { Attached, StreamStore } from '../store.ts';
import type { Stream } from '../stream/stream.ts';
import type { Sweeper } from './sweeper.ts';

interface RepairParts {
  streams: LocalStreams;
  store: Pick<StreamStore, 'attach'>;
  accounts: Pick<AccountSets, 'add'>;
  replica: Pick<Replica, 'id'>;
  rows: RowKeeper;
  catchUp: CatchUp;
  delivery: Delivery;
  opening: Opening;
  sweeper: Sweeper;
  onAttached: (stream: Stream, attached: Attached) => void;
  /** Makes sure the account is in the index of due things. */
  scheduleDue: (account: string, inMs: number) => Promise<void>;
}

/** Attaches open streams again, as the sweeper asks for it: renews their routes, and finds what they missed. */
export class Repair {
  readonly #parts: RepairParts;

  constructor(parts: RepairParts) {
    this.#parts = parts;
  }

  /** Resolves to false when the stream is still opening: it is attached again after that. */
  async attach(stream: Stream, cause: string): Promise<boolean> {
    const { streams, accounts, replica } = this.#parts;
    const [first] = streams.find(stream.account)?.streams ?? [];
    // What concerns the account is done by one of its streams.
    const speaksForAccount = first === stream;
    // Sent first and answered beside the attach, in whatever slot: it is done when both are.
    const added = speaksForAccount ? accounts.add(replica.id, stream.account) : null;
    const isOpen = !stream.state.isOpening;
    if (!isOpen) stream.attaches.postpone(cause);
    else if (!stream.isOver) await this.#compare(stream, cause, speaksForAccount);
    await added;
    return isOpen;
  }

  async #compare(stream: Stream, cause: string, speaksForAccount: boolean): Promise<void> {
    const { streams, store, rows, opening, sweeper, onAttached, scheduleDue } = this.#parts;
    const { id: positionBefore } = stream.position;
    const attached = await store.attach(stream, false, streams.idsOf(stream.account));
    if (stream.isOver || attached.outcome === 'old') return;
    if (attached.outcome !== 'attached') return opening.refuse(stream, attached.outcome);
    onAttached(stream, attached);
    stream.attachAnswered();
    // Only a `ready` takes back presence that the store lost, and one that is behind may get its own.
    if (stream.state.isLive && attached.presenceVersion < stream.presenceVersion) stream.outdateReady();
    if (stream.needsReady && (stream.state.isLive || stream.state.isBehind)) return opening.restart(stream);
    if (rows.isMissing(stream, attached) && (await rows.restore(stream))) sweeper.attachSoon(stream);
    if (attached.presence) sendPresence([stream], presenceView(attached.presence));
    if (speaksForAccount && attached.nextDueInMs !== null) await scheduleDue(stream.account, attached.nextDueInMs);
    this.#readOn(stream, attached.top, positionBefore, cause);
  }

  /** `top`: the end of the log, as of when the stream stood at `positionBefore`. */
  #readOn(stream: Stream, top: string, positionBefore: string, cause: string): void {
    const { id } = stream.position;
    // An end that lies before where the stream stood when it asked: the store lost its tail.
    const isBehind = top !== id && (id === positionBefore || !stream.position.saw(top));
    if (isBehind) this.#parts.delivery.fellBehind(stream, cause);
    if (stream.state.retried()) this.#parts.catchUp.start(stream);
  }
}
