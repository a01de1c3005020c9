import { setTimeout as pause } from 'node:timers/promises';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { ResetReason } from '../../../shared/contract/modules/stream.ts';
import type { PresenceFields } from '../presence/presence-view.ts';
import type { Transitions } from '../presence/transitions.ts';
import type { Db } from '../redis/db.ts';
import { BUS } from '../redis/bus/payloads.ts';
import { type LeaseView, livenessOf } from '../replicas/liveness.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { logPage, streamAttach, streamDetach, streamOpen } from './scripts.ts';
import type { Stream } from './stream/stream.ts';

type OpenAnswer = ReturnType<typeof streamOpen.read>;
type AttachAnswer = ReturnType<typeof streamAttach.read>;
type OpenReply = Extract<OpenAnswer, { outcome: 'attached' }>;
type AttachReply = Extract<AttachAnswer, { outcome: 'attached' }>;

export type Page = Pick<OpenReply, 'entries' | 'ended'>;

export interface Attached {
  outcome: 'attached' | 'gone' | 'old' | 'busy';
  /** The end of the log. */
  top: string;
  presenceVersion: number;
  /** Null when the stream already has this version. */
  presence: PresenceFields | null;
  /** Ms until the next job of the account is due; null when there is none, and for a stream that opens. */
  nextDueInMs: number | null;
  transitions: Transitions;
  /**
   * In how many ms the script can distinguish a route that leads to no stream of this replica from the route of a new
   * stream. 0: there is no such route.
   */
  orphanInMs: number;
  opened: Opened | null;
}

/** The part of the answer that only an opening stream gets. */
export interface Opened {
  /** Reason why the position was lost; null when it is valid and `page` goes on from it. */
  lostReason: ResetReason | null;
  clipboard: { updated_at: number; expires_at: number } | null;
  pendingMessages: number;
  pendingTransfers: number;
  /** Whether new devices may wait for the decision of this one. */
  hasInvites: boolean;
  page: Page;
}

/** The answer for a stream that could not be attached. */
const NOT_ATTACHED = {
  top: '',
  presenceVersion: 0,
  presence: null,
  nextDueInMs: null,
  transitions: { online: 0, offline: 0 },
  orphanInMs: 0,
  opened: null,
};

function openedOf(opened: OpenReply): Opened {
  // The clipboard begins with two lines, the times, before the text.
  const [updated, expires] = opened.clipboard.split('\n');
  return {
    lostReason: opened.lostReason,
    pendingMessages: opened.pendingMessages,
    pendingTransfers: opened.pendingTransfers,
    hasInvites: opened.hasInvites,
    clipboard: updated && expires ? { updated_at: Number(updated), expires_at: Number(expires) } : null,
    page: { entries: opened.entries, ended: opened.ended },
  };
}

const attachedOf = (reply: OpenReply | AttachReply, knownVersion: number): Attached => ({
  outcome: reply.outcome,
  top: reply.top,
  presenceVersion: reply.presenceVersion,
  presence: reply.presenceVersion > knownVersion ? { devices: reply.devices, states: reply.states } : null,
  nextDueInMs: 'nextDueInMs' in reply ? reply.nextDueInMs : null,
  transitions: reply.transitions,
  orphanInMs: reply.orphanInMs,
  opened: 'clipboard' in reply ? openedOf(reply) : null,
});

/**
 * Returns whether a failed call may have written something. An error without a cause is a refusal: by a script before
 * it wrote anything, or because the store is known to be away. Any other failure, and a refusal after a lost
 * connection, may come from the second time that the client library sent the call.
 */
const mayHaveWritten = (error: unknown): boolean => !(error instanceof BatonError && error.cause === undefined);

/** How long a stream that opens waits for the answers of the channels. */
const ASK_MS = 250;

/** Resolves to the number of replicas that heard it. */
type Publish = (channel: string, payload: string) => Promise<number>;

/**
 * Returns the channels to which nobody listens. A killed replica has no subscriber, long before its lease ends. A
 * replica whose subscriber is briefly away looks the same, and so does one for which the store does not answer in time.
 * Then the account has one stream too many until one ends; it never loses a stream for good.
 */
async function silentAmong(channels: readonly string[], publish: Publish): Promise<string[]> {
  const silent = new Set(channels);
  const asked = [...silent].map(async (channel) => {
    if ((await publish(channel, BUS.probe).catch(() => 0)) > 0) silent.delete(channel);
  });
  await Promise.race([Promise.all(asked), pause(ASK_MS, undefined, { ref: false })]);
  return [...silent];
}

interface StreamStoreParts extends Pick<Db, 'scripts' | 'keys'> {
  graceMs: number;
  replica: LeaseView & { readonly channel: string };
  publish: Publish;
  /**
   * Returns how often a connection to the store was lost so far. A call that was under way then may be sent a second
   * time.
   */
  losses: () => number;
  metrics: Pick<Metrics, 'repairs_total'>;
}

/** The attach number of a closed route for which no further attach can come. */
const NONE_LATE = 0;

/** Makes the store of streams, whose scripts run on the account's slot. */
export function makeStreamStore({ scripts, keys, graceMs, replica, publish, losses, metrics }: StreamStoreParts) {
  const repaired = (cause: string) => metrics.repairs_total.inc({ cause });
  const openScript = scripts.define(streamOpen, { GRACE_MS: graceMs });
  const attachScript = scripts.define(streamAttach, { GRACE_MS: graceMs });
  const detachScript = scripts.define(streamDetach);
  const pageScript = scripts.define(logPage);

  return {
    /**
     * Writes the route and returns the end of the log, in one step; `opening` also reads what a client needs first.
     * `held`: the streams of the account that this replica holds.
     */
    async attach(stream: Stream, opening: boolean, held: readonly string[]): Promise<Attached> {
      // The stream's version may change before the answer comes; a client that gets its `ready` needs all of the
      // presence.
      const knownVersion = opening ? 0 : stream.presenceVersion;
      const args = {
        stream: stream.id,
        channel: replica.channel,
        device: stream.device,
        attachNumber: stream.attaches.sent(),
        liveness: livenessOf(replica, held),
      };
      const accountKeys = keys.inAccount(stream.account);
      const position = stream.position.id;
      const lossesBefore = losses();
      let reply: OpenAnswer | AttachAnswer;
      try {
        reply = await (opening
          ? openScript(accountKeys, { ...args, position })
          : attachScript(accountKeys, { ...args, knownVersion }));
      } catch (error) {
        // The stream is attached again or detached, depending on whether it is open.
        if (mayHaveWritten(error) || losses() !== lossesBefore) repaired('unknown attach');
        else stream.attaches.refused();
        throw error;
      }
      if (reply.outcome === 'full') {
        // Streams of a replica that has just died must not displace live ones.
        const silent = await silentAmong(reply.channels, publish);
        reply = await openScript(accountKeys, { ...args, position, liveness: { ...args.liveness, silent } });
        if (silent.length > 0) repaired('ghost stream');
      }
      // Only a copy of the call could still write a route of a stream that was refused.
      if (losses() === lossesBefore) {
        if (reply.outcome === 'busy') stream.attaches.refused();
        else stream.attaches.replied();
      }
      if (reply.outcome === 'full') throw new Error('the account is full after it was asked who is there');
      if (reply.outcome !== 'attached') return { ...NOT_ATTACHED, outcome: reply.outcome };
      if (reply.dropped > 0) repaired('stray row');
      return attachedOf(reply, knownVersion);
    },

    /** Marks the stream's route as closed, so that a late attach finds it closed. */
    detach(stream: Stream): Promise<unknown> {
      return detachScript(keys.inAccount(stream.account), {
        stream: stream.id,
        channel: replica.channel,
        device: stream.device,
        attachNumber: stream.attaches.mayComeLate ? stream.attaches.nextNumber() : NONE_LATE,
      });
    },

    /** Returns the next page after the stream's position, or why that position is no longer valid. */
    async readPage(stream: Stream): Promise<Page | { lostReason: ResetReason }> {
      const { device } = stream;
      const accountKeys = keys.inAccount(stream.account);
      const { lostReason, entries, ended } = await pageScript(accountKeys, { position: stream.position.id, device });
      return lostReason === null ? { entries, ended } : { lostReason };
    },
  };
}

export type StreamStore = ReturnType<typeof makeStreamStore>;
