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
  accounts: Pick<AccountSets, 'add' | 'ensure'>;
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

/** Attaches open streams again when the sweeper asks for it: renews their routes, and finds what they missed. */
export class Repair {
  readonly #parts: RepairParts;

  constructor(parts: RepairParts) {
    this.#parts = parts;
  }

  /** Attaches a stream; resolves to false when it is still opening, because it is attached again after that. */
  async attach(stream: Stream, cause: string): Promise<boolean> {
    const { streams, accounts, replica } = this.#parts;
    const [first] = streams.find(stream.account)?.streams ?? [];
    // Only one stream of an account does what concerns the account.
    const speaksForAccount = first === stream;
    // As in `Opening`, the account is in the set, where a reaper looks for it, before the stream has a route.
    await (speaksForAccount ? accounts.add(replica.id, stream.account) : accounts.ensure(replica.id, stream.account));
    const isOpen = !stream.state.isOpening;
    if (!isOpen) stream.attaches.postpone(cause);
    else if (!stream.isOver) await this.#compare(stream, cause, speaksForAccount);
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
    // Only a `ready` corrects presence that the store lost. A stream that is behind may still get its own.
    if (stream.state.isLive && attached.presenceVersion < stream.presenceVersion) stream.outdateReady();
    if (stream.needsReady && (stream.state.isLive || stream.state.isBehind)) return opening.restart(stream);
    if (rows.isMissing(stream, attached) && (await rows.restore(stream))) sweeper.attachSoon(stream);
    if (attached.presence) sendPresence([stream], presenceView(attached.presence));
    if (speaksForAccount && attached.nextDueInMs !== null) await scheduleDue(stream.account, attached.nextDueInMs);
    this.#readOn(stream, attached.top, positionBefore, cause);
  }

  /** Makes a stream that is behind read on. `top`: the end of the log when the stream was at `positionBefore`. */
  #readOn(stream: Stream, top: string, positionBefore: string, cause: string): void {
    const { id } = stream.position;
    // When the end lies before the stream's position at the time of the request, the store lost its tail.
    const isBehind = top !== id && (id === positionBefore || !stream.position.saw(top));
    if (isBehind) this.#parts.delivery.fellBehind(stream, cause);
    if (stream.state.go('retried')) this.#parts.catchUp.start(stream);
  }
}
