import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { ResetReason } from '../../../shared/contract/stream.ts';
import type { PresenceFields } from '../devices/presence-view.ts';
import type { Keys } from '../redis/keys.ts';
import type { Reply, ScriptLoader } from '../redis/scripts.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { ANYBODY_THERE } from './lease-store.ts';
import type { Replica } from './replica.ts';
import type { Stream } from './stream.ts';
import type { Transitions } from './transitions.ts';

/** Bytes of one page of the log: what a stream may hold in memory while it catches up. */
const PAGE_BYTES = 256 * 1024;

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

/** 32 random bits, which make a position unique across failovers. */
const randomBits = (): number => randomInt(0, 2 ** 32);

const text = (reply: Reply, index: number): string => reply[index] as string;
const list = (reply: Reply, index: number): string[] => reply[index] as string[];

function pageOf(flat: string[], ended: string): Page {
  const entries: PageEntry[] = [];
  for (let i = 0; i < flat.length; i += 3) {
    entries.push({ id: flat[i] as string, name: flat[i + 1] as string, data: flat[i + 2] as string });
  }
  return { entries, ended: ended === '1' };
}

function transitionsOf(counts: string): Transitions {
  const [online = 0, offline = 0] = counts.split(' ').map(Number);
  return { online, offline };
}

/** As the attach script answers to a stream that opens. */
type OpenedReply = [
  reason: string,
  clipboard: string,
  messages: number,
  transfers: number,
  page: string[],
  end: string,
];

function openedOf([reason, clipboard, messages, transfers, page, end]: OpenedReply): Opened {
  const [updated, expires] = clipboard.split('\n');
  return {
    lostReason: (reason || null) as ResetReason | null,
    clipboard: updated && expires ? { updated_at: Number(updated), expires_at: Number(expires) } : null,
    pendingMessages: messages,
    pendingTransfers: transfers,
    page: pageOf(page, end),
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
  const attachScript = scripts.load('stream-attach.lua', import.meta.url);
  const detachScript = scripts.load('stream-detach.lua', import.meta.url);
  const pageScript = scripts.load('log-page.lua', import.meta.url);
  const lookScript = scripts.load('presence-look.lua', import.meta.url);

  /**
   * Those of the channels to which nobody listens, joined by line ends: a replica that was killed has no subscriber any
   * more, long before its lease ends. One whose subscriber is just away looks the same, and so does one of which the
   * store does not tell in time: then there is a stream too many until one of them ends, and none too few for good.
   */
  async function ghostly(channels: string[]): Promise<string> {
    const unheard = new Set(channels);
    const asked = [...unheard].map(async (channel) => {
      if ((await publish(channel, ANYBODY_THERE).catch(() => 0)) > 0) unheard.delete(channel);
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
      // What the stream has may change before the answer is here; a client that is greeted needs all of it.
      const known = opening ? 0 : stream.presenceVersion;
      const generation = stream.generation;
      const run = (ghosts: string): Promise<Reply> =>
        attachScript(
          [keys.routes, keys.presence, keys.devices, keys.log, keys.mail, keys.inbox, keys.clipboard, keys.due].map(
            (k) => k(u),
          ),
          [
            ...[stream.id, channel, device, generation, randomBits(), stream.position, opening ? '1' : '0'],
            ...[known, graceMs, PAGE_BYTES, LIMITS.streamsPerDevice, LIMITS.streamsPerAccount],
            ...[deadChannels(), LIMITS.mailboxSeconds, held.join('\n'), ghosts, lateMs(), formerChannels()],
          ],
        );
      const { mayBeRouted } = stream;
      stream.mayBeRouted = true;
      const first = await run('').catch((error: unknown) => {
        // Attached again or detached, by whether it is open.
        if (mayHaveWritten(error)) repaired('unknown attach');
        else stream.mayBeRouted = mayBeRouted;
        throw error;
      });
      // Streams of a replica that has just died must not push out those that are alive.
      const ghosts = text(first, 0) === 'full' ? await ghostly(list(first, 1)) : '';
      const reply = ghosts === '' ? first : await run(ghosts);
      const outcome = text(reply, 0) as Outcome;
      const presenceVersion = Number(reply[2] ?? 0);
      const strayInMs = Number(reply[7] ?? 0);
      if (ghosts !== '' && ghosts !== NOBODY) repaired('ghost stream');
      if (Number(reply[8] ?? 0) > 0) repaired('stray row');
      return {
        outcome,
        top: (reply[1] ?? '') as string,
        presenceVersion,
        presence: presenceVersion > known ? { devices: list(reply, 3), states: list(reply, 4) } : null,
        nextDueInMs: reply[5] ? Number(reply[5]) : null,
        transitions: transitionsOf((reply[6] ?? '') as string),
        strayInMs,
        opened: reply[9] === undefined ? null : openedOf(reply[9] as unknown as OpenedReply),
      };
    },

    /** Marks the stream's route as closed. */
    async detach(stream: Stream, channel: string): Promise<void> {
      stream.generation += 1;
      await detachScript([keys.routes(stream.account)], [stream.id, channel, stream.device, stream.generation]);
    },

    /** The next page after the stream's position, or why that position is no longer valid. */
    async readPage(stream: Stream): Promise<Page | { lostReason: ResetReason }> {
      const u = stream.account;
      const reply = await pageScript(
        [keys.log(u), keys.mail(u), keys.inbox(u)],
        [stream.position, stream.device, PAGE_BYTES],
      );
      const lostReason = text(reply, 0) as ResetReason | '';
      return lostReason === '' ? pageOf(list(reply, 2), text(reply, 3)) : { lostReason };
    },

    /**
     * Compares what was announced with what is routed. Resolves to the ms after which a grace ends that is still
     * running, 0 when all is settled. `alsoDead`: the replica's own channels, when it holds no stream of the account.
     */
    async look(
      account: string,
      alsoDead: readonly string[] = [],
    ): Promise<{ againInMs: number; transitions: Transitions }> {
      const dead = [deadChannels(), ...alsoDead].filter(Boolean).join('\n');
      const reply = await lookScript(
        [keys.routes(account), keys.presence(account), keys.devices(account)],
        [graceMs, dead, lateMs()],
      );
      return { againInMs: Number(reply[0]), transitions: transitionsOf(text(reply, 1)) };
    },
  };
}

export type HubStore = ReturnType<typeof makeHubStore>;
