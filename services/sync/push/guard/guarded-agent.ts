import { type LookupAddress, promises as dns } from 'node:dns';
import { setMaxListeners } from 'node:events';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, Pool } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { type EndpointRules, isStranger, isTrusted } from './endpoint-rules.ts';

const CONNECT_MS = 3_000;
/** The time limit of one try at a name server; there are two tries. */
const RESOLVE_MS = 1_000;
/** How long a connection is kept for the next push, whatever the server proposes. */
const IDLE_MS = 30_000;
const STRANGER_IDLE_MS = 1_000;
/** Connections to one host and port. */
const CONNECTIONS_EACH = 32;
/** Connections to known or listed hosts, and to strangers. Users choose strangers, so these have a separate limit. */
const CONNECTIONS_IN_ALL = 512;
const STRANGER_CONNECTIONS = 128;
const MOST_HEADER_BYTES = 8_192;

/** Resolves to all addresses of a name, in both families. Rejects when there is none, and when the signal aborts it. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

export interface GuardedAgentParts {
  rules: EndpointRules;
  /** For tests: certificates (PEM) to trust instead of those of the system. */
  ca?: string | undefined;
  /** For tests. */
  resolve?: Resolve | undefined;
  /** For tests: how many ms connections to known or listed hosts are kept. */
  idleMs?: number | undefined;
}

class TooManyConnections extends Error {
  readonly code = 'ERR_PUSH_CONNECTIONS';
}

export interface GuardedAgent {
  readonly dispatcher: Dispatcher;
  /** Ends all connections. Requests that still run fail. */
  close(): Promise<void>;
}

/** The error of a connection that the guard refused. It does not name the address. */
export class RefusedAddress extends Error {
  readonly code = 'ERR_PUSH_ADDRESS';

  constructor() {
    super('the endpoint may not be connected to');
  }
}

/**
 * Asks the name servers directly. The system's resolver uses the thread pool, where a few names with slow name servers
 * could hold up every other lookup of the process. `servers` (`address:port`) replace the system's name servers in tests.
 */
export const makeResolve =
  (servers?: readonly string[]): Resolve =>
  async (name, signal) => {
    const resolver = new dns.Resolver({ timeout: RESOLVE_MS, tries: 2 });
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    signal.removeEventListener('abort', cancel);
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
    const of = (found: PromiseSettledResult<string[]>, family: 4 | 6) =>
      found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
    return [...of(four, 4), ...of(six, 6)];
  };

/** Resolves to the addresses of a name, the same that the socket gets. Rejects when any of them is not public. */
async function judged(name: string, resolve: Resolve, signal: AbortSignal): Promise<LookupAddress[]> {
  const found = await resolve(name, signal);
  if (found.length === 0 || !found.every(({ address }) => isPublicAddress(address))) throw new RefusedAddress();
  return [...found];
}

const makeLookup =
  (resolve: Resolve, signal: AbortSignal): LookupFunction =>
  (name, { all }, answer) => {
    judged(name, resolve, signal).then(
      (addresses) => {
        const [first] = addresses as [LookupAddress];
        if (all === true) answer(null, addresses);
        else answer(null, first.address, first.family);
      },
      (error: unknown) => answer(error as NodeJS.ErrnoException, '', 0),
    );
  };

/**
 * Makes the agent for requests to endpoints that users chose. At connect it looks the name up once, refuses unless every
 * address is public, and connects to one of the addresses that it judged. Hosts that the operator listed skip this check.
 * The agent uses no proxy, follows no redirect, and always checks the certificate against the name.
 */
export function makeGuardedAgent({
  rules,
  ca,
  resolve = makeResolve(),
  idleMs = IDLE_MS,
}: GuardedAgentParts): GuardedAgent {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const { signal } = closing;
  const options = { timeout: CONNECT_MS, rejectUnauthorized: true, signal, ...(ca !== undefined && { ca }) };
  const connectTrusted = buildConnector(options);
  const connectStranger = buildConnector({ ...options, lookup: makeLookup(resolve, signal) });
  const open = { known: 0, strangers: 0 };

  const connect: buildConnector.connector = (target, callback) => {
    const isListed = isTrusted(target.host ?? '', rules);
    // An address is never looked up, so the lookup cannot judge it.
    const isAddress = isIP(target.hostname.replace(/^\[|\]$/g, '')) !== 0;
    if (target.protocol !== 'https:' || (isAddress && !isListed)) return callback(new RefusedAddress(), null);
    const kind = isStranger(target.host ?? '', rules) ? 'strangers' : 'known';
    const most = kind === 'known' ? CONNECTIONS_IN_ALL : STRANGER_CONNECTIONS;
    if (open[kind] >= most) return callback(new TooManyConnections(), null);
    open[kind]++;
    const ended = () => void open[kind]--;
    (isListed ? connectTrusted : connectStranger)(target, (...[error, socket]) => {
      if (error !== null) {
        ended();
        return callback(error, null);
      }
      socket.once('close', ended);
      if (isListed || isPublicAddress(socket.remoteAddress ?? '')) return callback(null, socket);
      socket.destroy();
      callback(new RefusedAddress(), null);
    });
  };

  const dispatcher = new Agent({
    factory(origin) {
      const keptMs = isStranger(new URL(origin).host, rules) ? STRANGER_IDLE_MS : idleMs;
      return new Pool(origin, {
        connect,
        connections: CONNECTIONS_EACH,
        keepAliveTimeout: keptMs,
        keepAliveMaxTimeout: keptMs,
        maxHeaderSize: MOST_HEADER_BYTES,
        pipelining: 1,
      });
    },
  });
  return {
    dispatcher,
    async close() {
      // The agent does not end connections that are still being made.
      closing.abort();
      await dispatcher.destroy();
    },
  };
}
