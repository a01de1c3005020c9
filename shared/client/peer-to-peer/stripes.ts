import { type Bundle, makeBundle } from './bundle.ts';
import { type LinkEnd, type LinkParts, makePeerLink, type PeerLink } from './link.ts';
import { type Pipe, plainPipe } from './pipe.ts';

/**
 * Further connections open when this many bytes were sent over the first one, or it was busy for this long. A small file
 * ends before that, and the first byte never waits for them.
 */
const BUSY_BYTES = 4 * 1024 * 1024;
const BUSY_MS = 500;

export interface StripedParts extends Omit<LinkParts, 'onOpen'> {
  onOpen: (pipe: Pipe) => void;
}

interface Member {
  link: PeerLink;
  channel: RTCDataChannel | null;
}

/** A signal about a further connection, unchecked. */
interface About {
  link?: unknown;
  kind?: unknown;
  payload?: unknown;
}

/**
 * Makes an attempt of up to `MOST_LINKS` peer connections (services/decisions, 42). The first one is found with signals of
 * the service. If both sides know how, its bytes become frames, and further connections are signalled in frames:
 *
 * first --open, other side has no `links`--> plain pipe
 * first --open, both have--> bundle of 1 --4 MiB, or half a second--> offers of further ones --each opens--> bundle of 2, 3, 4
 * a connection is lost --others are open--> bundle without it      --none is open--> over
 */
export function makeStripedLink({ onOpen, onOver, ...parts }: StripedParts): PeerLink {
  const members = new Map<number, Member>();
  let bundle: Bundle | null = null;
  let firstBytes = 0;
  let agreed = 1;
  let isOver = false;
  let busySinceMs: number | null = null;
  let configuration: ReturnType<LinkParts['configuration']> | null = null;

  /** One answer of the service serves all connections of the attempt. */
  function configure(): ReturnType<LinkParts['configuration']> {
    configuration ??= parts.configuration();
    return configuration;
  }

  function close(why: LinkEnd): void {
    if (isOver) return;
    isOver = true;
    for (const { link } of members.values()) link.close('over');
    onOver(why);
  }

  function isLost(member: Member, why: LinkEnd): void {
    if (isOver) return;
    if (bundle === null) return close(why);
    if (member.channel === null) return;
    bundle.drop(member.channel);
    if (bundle.size === 0) close(why);
  }

  function connect(index: number): PeerLink {
    const attempt = index === 0 ? parts.attempt : `${parts.attempt}/${index}`;
    const further = {
      onPhase: () => {},
      send: async (kind: string, payload: object) => bundle?.signal({ link: index, kind, payload }),
    };
    const link = makePeerLink({
      ...parts,
      ...(index > 0 && further),
      ...{ attempt, configuration: configure },
      onOpen(channel, messageBytes, links) {
        if (index === 0) return begin(member, channel, { messageBytes, links });
        // Frames of the first connection must fit, because they may be sent again here.
        if (messageBytes < firstBytes) return link.close('over');
        member.channel = channel;
        bundle?.add(channel);
      },
      onOver: (why) => isLost(member, why),
    });
    const member: Member = { link, channel: null };
    members.set(index, member);
    return link;
  }

  function onSent(bytes: number): void {
    busySinceMs ??= parts.clock.now();
    const isBusy = bytes >= BUSY_BYTES || parts.clock.now() - busySinceMs >= BUSY_MS;
    if (isOver || !parts.isOffering || !isBusy || members.size > 1) return;
    for (let index = 1; index < agreed; index += 1) connect(index);
  }

  function onSignal(about: unknown): void {
    if (isOver) return;
    const { link: index, kind, payload } = (about ?? {}) as About;
    const isAgreed = Number.isInteger(index) && (index as number) > 0 && (index as number) < agreed;
    if (!isAgreed || typeof kind !== 'string') return close('misbehaved');
    const known = members.get(index as number)?.link;
    // Only the side that offers the first connection offers further ones.
    if (known === undefined && (parts.isOffering || kind !== 'offer')) return close('misbehaved');
    (known ?? connect(index as number)).take({ kind, payload });
  }

  function begin(member: Member, channel: RTCDataChannel, found: { messageBytes: number; links: number }): void {
    member.channel = channel;
    agreed = found.links;
    firstBytes = found.messageBytes;
    if (agreed === 1) return onOpen(plainPipe(channel, firstBytes));
    bundle = makeBundle({ messageBytes: firstBytes, onSignal, onSent, onMisbehaved: () => close('misbehaved') });
    bundle.add(channel);
    onOpen(bundle.pipe);
  }

  const first = connect(0);
  return {
    attempt: parts.attempt,
    get isOpen() {
      return !isOver && (bundle === null ? first.isOpen : bundle.size > 0);
    },
    get isAnswered() {
      return first.isAnswered;
    },
    take: (signal) => first.take(signal),
    close,
  };
}
