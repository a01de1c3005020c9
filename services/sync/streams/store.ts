import { setTimeout as pause } from 'node:timers/promises';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { ResetReason } from '../../../shared/contract/stream.ts';
import type { PresenceFields } from '../presence/presence-view.ts';
import type { Keys } from '../redis/keys.ts';
import { BUS } from '../redis/bus/payloads.ts';
import type { ScriptLoader } from '../../server/redis/scripts/scripts.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Replica } from '../replicas/replica.ts';
import { logPage, streamAttach, streamDetach } from './scripts.ts';
import type { Stream } from './stream.ts';
import type { Transitions } from '../presence/transitions.ts';

/** An event as a page returns it; `name` is '' for one that is not for this stream. */
export interface PageEntry {
  id: string;
  name: string;
  data: string;
}

export interface Page {
  entries: PageEntry[];
  /** The end of the log was reached. */
  ended: boolean;
}

type Outcome = 'attached' | 'gone' | 'old' | 'busy';

export interface Attached {
  outcome: Outcome;
  top: string;
  presenceVersion: number;
  /** Null when the stream already has this version. */
  presence: PresenceFields | null;
  /** Ms until the next thing of the account is due, null when nothing is. */
  nextDueInMs: number | null;
  transitions: Transitions;
  /** Ms until a row of this replica's that it does not hold can be told from that of a new stream; 0: there is none. */
  strayInMs: number;
  opened: Opened | null;
}

/** What only an opening stream is told. */
export interface Opened {
  /** Null: the position is valid and `page` goes on from it. */
  lostReason: ResetReason | null;
  clipboard: { updated_at: number; expires_at: number } | null;
  pendingMessages: number;
  pendingTransfers: number;
  page: Page;
}

/** What a stream is told that could not be attached. */
const NOT_ATTACHED = {
  top: '',
  presenceVersion: 0,
  presence: null,
  nextDueInMs: null,
  transitions: { online: 0, offline: 0 },
  strayInMs: 0,
  opened: null,
};

interface OpenedReply extends Omit<Opened, 'clipboard' | 'page'>, Page {
  /** Two lines with the times, before the text. */
  clipboard: string;
}

function openedOf(opened: OpenedReply): Opened {
  const [updated, expires] = opened.clipboard.split('\n');
  return {
    lostReason: opened.lostReason,
    pendingMessages: opened.pendingMessages,
    pendingTransfers: opened.pendingTransfers,
    clipboard: updated && expires ? { updated_at: Number(updated), expires_at: Number(expires) } : null,
    page: { entries: opened.entries, ended: opened.ended },
  };
}

interface HubStoreParts {
  scripts: ScriptLoader;
  keys: Keys;
  graceMs: number;
  /** What scripts cannot read in the lease table. */
  replica: Pick<Replica, 'deadChannels' | 'formerChannels' | 'lateMs'>;
  /** Resolves to the number of replicas that heard it. */
  publish: (channel: string, payload: string) => Promise<number>;
  metrics: Pick<Metrics, 'repairs_total'>;
}

/**
 * Without a cause it is a refusal: of a script before it wrote anything, or because the store is known to be away. Any
 * other failure may be that of the second time that the client library has sent it.
 */
const mayHaveWritten = (error: unknown): boolean => !(error instanceof BatonError && error.cause === undefined);

/** No channels, and they were asked for. */
const NOBODY = '\n';

/** A stream that opens waits no longer for the answer. */
const ASK_MS = 250;

/** The hub's scripts on the account's slot. */
export function makeHubStore({ scripts, keys, graceMs, replica, publish, metrics }: HubStoreParts) {
  const { deadChannels, formerChannels, lateMs } = replica;
  const repaired = (cause: string) => metrics.repairs_total.inc({ cause });
  const attachScript = scripts.define(streamAttach, { GRACE_MS: graceMs });
  const detachScript = scripts.define(streamDetach);
  const pageScript = scripts.define(logPage);

  /**
   * Those of the channels to which nobody listens, joined by line ends: a replica that was killed has no subscriber any
   * more, long before its lease ends. One whose subscriber is just away looks the same, and so does one of which the
   * store does not tell in time: then there is a stream too many until one of them ends, and none too few for good.
   */
  async function ghostly(channels: string[]): Promise<string> {
    const unheard = new Set(channels);
    const asked = [...unheard].map(async (channel) => {
      if ((await publish(channel, BUS.probe).catch(() => 0)) > 0) unheard.delete(channel);
    });
    await Promise.race([Promise.all(asked), pause(ASK_MS, undefined, { ref: false })]);
    return [...unheard].join('\n') || NOBODY;
  }

  return {
    /**
     * Writes the route and compares the position, in one step; `opening` also reads what a client needs at first. `held`:
     * the streams of the account that this replica holds; other rows of it are what a lost tail brought back.
     */
    async attach(stream: Stream, channel: string, opening: boolean, held: readonly string[]): Promise<Attached> {
      const { account: u, device } = stream;
      stream.generation += 1;
      // What the stream has may change before the answer is here; a client that is sent `ready` needs all of it.
      const known = opening ? 0 : stream.presenceVersion;
      const generation = stream.generation;
      const run = (ghosts: string) =>
        attachScript(keys.inAccount(u), {
          stream: stream.id,
          channel,
          device,
          generation,
          position: stream.position,
          opening,
          knownVersion: known,
          held,
          ghosts,
          dead: deadChannels(),
          own: formerChannels(),
          lateMs: lateMs(),
        });
      const { mayBeRouted } = stream;
      stream.mayBeRouted = true;
      const first = await run('').catch((error: unknown) => {
        // Attached again or detached, by whether it is open.
        if (mayHaveWritten(error)) repaired('unknown attach');
        else stream.mayBeRouted = mayBeRouted;
        throw error;
      });
      // Streams of a replica that has just died must not push out those that are alive.
      const ghosts = first.outcome === 'full' ? await ghostly(first.channels) : '';
      const reply = ghosts === '' ? first : await run(ghosts);
      if (ghosts !== '' && ghosts !== NOBODY) repaired('ghost stream');
      // Asked with ghosts, it does not answer that it is full.
      if (reply.outcome === 'full') throw new Error('the account is full after it was asked who is there');
      if (reply.outcome !== 'attached') return { ...NOT_ATTACHED, outcome: reply.outcome };
      if (reply.dropped > 0) repaired('stray row');
      return {
        outcome: reply.outcome,
        top: reply.top,
        presenceVersion: reply.presenceVersion,
        presence: reply.presenceVersion > known ? { devices: reply.devices, states: reply.states } : null,
        nextDueInMs: reply.nextDueInMs,
        transitions: reply.transitions,
        strayInMs: reply.strayInMs,
        opened: reply.opened && openedOf(reply.opened),
      };
    },

    /** Marks the stream's route as closed. */
    async detach(stream: Stream, channel: string): Promise<void> {
      stream.generation += 1;
      const { id, device, generation } = stream;
      await detachScript(keys.inAccount(stream.account), { stream: id, channel, device, generation });
    },

    /** The next page after the stream's position, or why that position is no longer valid. */
    async readPage(stream: Stream): Promise<Page | { lostReason: ResetReason }> {
      const { position, device } = stream;
      const { lostReason, entries, ended } = await pageScript(keys.inAccount(stream.account), { position, device });
      return lostReason === null ? { entries, ended } : { lostReason };
    },
  };
}

export type HubStore = ReturnType<typeof makeHubStore>;
