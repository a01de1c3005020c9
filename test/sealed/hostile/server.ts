import type { DeviceKeys } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { DeviceSession } from '../../../shared/contract/modules/sessions.ts';
import type { Fetch } from '../../../shared/client/http/request.ts';
import type { ReplicaProcess } from '../../support/replicas.ts';
import type { TestDevice } from '../../support/device.ts';
import type { AccountName, Attacker } from './attacker.ts';
import { type Chance, spoilt } from './chance.ts';

interface KeysBody {
  rings: string[];
  n: number;
  guests: string | null;
  deletions: unknown[];
}

/** What a device sealed and gave to the server, as the server saw it. */
export interface Posted {
  readonly kind: 'message' | 'clipboard';
  readonly from: string;
  /** The id of a device, `*`, or `''` for the clipboard. */
  readonly to: string;
  readonly sealed: string;
  /** The server's own id. */
  readonly messageId: string;
}

/** A server between devices and a real one. While it is hostile it lies, drops, repeats and swaps, by its seed. */
export interface HostileServer {
  isHostile: boolean;
  /** All rings that any device has put, the swallowed ones too. */
  readonly rings: readonly string[];
  readonly posted: readonly Posted[];
  /** The status of the last response to something sealed; 0 for none. */
  readonly lastStatus: number;
  /** The response about the device that asks to be let in. */
  asking: object | null;
  /** The device that the server names as the one that asks; null: the one that does. */
  asksAs: string | null;
  /** The grant of the last approval. */
  readonly granted: string | undefined;
  /** The removed device's keys help the server. */
  removedSigner: CryptoKeyPair | null;
  /** The public part of these keys, as a ring has it. */
  removedSig: string;
  /** The device that is told that nothing has followed the ring that it has; null: none. */
  keptBehind: string | null;
  /** The keys of all guests that were ever in, with which the server signs too. */
  readonly guestSigners: DeviceKeys[];
  /** All lists of guests that any device has put, the swallowed ones too. */
  readonly lists: readonly string[];
  /** Called with each list that a device puts, before it is there. */
  onList: (deviceId: string, list: string) => void;
  /** The list of guests that the server shows instead of its own; null: its own. */
  shownList: string | null;
  /** It shows no list of guests at all. */
  hidesList: boolean;
  /** The lists that a device was shown last, and has put with success, by the device. */
  readonly listOf: ReadonlyMap<string, string | null>;
  /** All lists that a device was ever shown, or has put with success. */
  readonly listsOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** It takes lists of guests, says so, and forgets them. */
  forgetsLists: boolean;
  /** When the sessions of all guests end, as the server tells it; null: as it is. */
  sessionEnd: number | null;
  /** How far the server's clock is from the right time, as its answers tell it. */
  clockMs: number;
  fetchFor(device: TestDevice): Fetch;
}

interface Parts {
  chance: Chance;
  replica: ReplicaProcess;
  attacker: Attacker;
  account: AccountName;
}

const problem = (status: number, code: string): Response =>
  Response.json(
    { type: 'about:blank', title: code, status, code, detail: code },
    { status, headers: { 'Content-Type': 'application/problem+json' } },
  );
const PASS = ['pass', 'pass', 'pass', 'pass'] as const;
const SWALLOW = ['swallow', 'swallow', 'swallow', 'swallow'] as const;
const cut = (): never => {
  throw new TypeError('the connection was cut');
};
export const numberOf = (ring: string): number =>
  (JSON.parse(Buffer.from(ring.split('.')[0] ?? '', 'base64url').toString()) as { n: number }).n;

const hasSigner = (ring: string, sig: string): boolean =>
  Buffer.from(ring.split('.')[0] ?? '', 'base64url')
    .toString()
    .includes(`"sig":"${sig}"`);

/** Returns a session of the list of sessions. */
const sessionUntil = (device_id: string, expires_at: number): DeviceSession => ({
  ...{ device_id, expires_at, session_id: null, name: 'any', type: null, scope: null, persist: null },
  ...{ online: false, current: false, created_at: null, last_active_at: null },
});

/** Changes a list of rings as a server could that wants a device to take another list. */
async function spoiltKeys(body: KeysBody, after: number, parts: Parts, server: HostileServer): Promise<KeysBody> {
  const { chance, attacker, account } = parts;
  const newest = server.rings.toReversed().find((ring) => numberOf(ring) === Math.max(after, body.n));
  const last = body.rings.at(-1) ?? newest;
  const forged = async (signer = attacker.keys) => {
    if (last === undefined) return body;
    const ring = await attacker.ringAfter(last, account, signer);
    return { ...body, rings: [...body.rings, ring], n: numberOf(ring) };
  };
  switch (
    chance.pick(['withhold', 'back', 'cut', 'reversed', 'forged', 'removed', 'bit', 'promise', 'fork', 'skip', 'guest'])
  ) {
    case 'withhold':
      return { ...body, rings: [], n: after };
    case 'back':
      return { ...body, rings: [], n: Math.max(0, after - 1 - chance.below(2)) };
    case 'cut':
      return { ...body, rings: body.rings.slice(0, -1), n: Math.max(after, body.n - 1) };
    case 'reversed':
      return { ...body, rings: body.rings.toReversed() };
    case 'removed': {
      // Where the newest ring still has the removed device, that device may sign the next one.
      const signer = last === undefined || hasSigner(last, server.removedSig) ? null : server.removedSigner;
      return forged(signer === null ? attacker.keys : { ...attacker.keys, sig: signer });
    }
    case 'bit':
      return {
        ...body,
        rings: body.rings.map((ring) =>
          ring
            .split('.')
            .map((part) => spoilt(part, chance))
            .join('.'),
        ),
      };
    case 'promise':
      return { ...body, n: body.n + 3 };
    case 'fork': {
      const others = server.rings.filter((ring) => numberOf(ring) > after);
      return { ...body, rings: others.slice(-8), n: Math.max(after, ...others.map(numberOf)) };
    }
    case 'skip': {
      const others = server.rings.filter((ring) => numberOf(ring) === after + 1 && !body.rings.includes(ring));
      return { ...body, rings: [...others, ...body.rings.slice(1)] };
    }
    case 'guest':
      return server.guestSigners.length === 0 ? body : forged(chance.pick(server.guestSigners));
    default:
      return forged();
  }
}

/** Shows a list of guests that is not the newest one: an older one, a spoilt one, none, or one that no member signed. */
async function otherList(
  { chance, server }: { chance: Chance; server: HostileServer },
  {
    own,
    forged,
    isMember,
  }: { own: string | null; forged: (signer?: CryptoKeyPair) => Promise<string | null>; isMember: boolean },
): Promise<string | null> {
  switch (chance.pick(['older', 'older', 'older', 'none', 'bit', 'attacker', 'guest', 'removed'])) {
    case 'older':
      return server.lists.length === 0 ? own : chance.pick(server.lists);
    case 'bit': {
      const [bytes = '', signature = ''] = (own ?? '').split('.');
      return own === null ? null : `${bytes.slice(0, -2)}${bytes.endsWith('Q') ? 'g' : 'Q'}.${signature}`;
    }
    case 'attacker':
      return forged();
    case 'guest':
      return server.guestSigners.length === 0 ? own : forged(chance.pick(server.guestSigners).sig);
    case 'removed':
      return server.removedSigner === null || isMember ? own : forged(server.removedSigner);
    default:
      return null;
  }
}

/** Shows another list of guests than the newest, now and then. */
async function spoiltGuests(body: KeysBody, parts: Parts, server: HostileServer): Promise<KeysBody> {
  const { chance, attacker, account } = parts;
  const last = body.rings.at(-1) ?? server.rings.at(-1);
  if (last === undefined || chance.is(0.7)) return body;
  const forged = (signer?: CryptoKeyPair) => attacker.guestsAt(last, account, signer);
  // Where the newest ring still has the removed device, that device may sign a list.
  const isMember = hasSigner(last, server.removedSig);
  return { ...body, guests: await otherList({ chance, server }, { own: body.guests, forged, isMember }) };
}

export function makeHostileServer(parts: Parts): HostileServer {
  const { chance, replica } = parts;
  const rings: string[] = [];
  const posted: Posted[] = [];
  const lists: string[] = [];
  const listOf = new Map<string, string | null>();
  const listsOf = new Map<string, Set<string>>();
  function knows(id: string, list: string | null): void {
    listOf.set(id, list);
    if (list !== null) listsOf.set(id, (listsOf.get(id) ?? new Set()).add(list));
  }
  let lastStatus = 0;
  let granted: string | undefined;

  async function getKeys(id: string, url: URL, pass: () => Promise<Response>): Promise<Response> {
    const answer = await keysFor(id, url, pass);
    if (answer.status === 200) knows(id, ((await answer.clone().json()) as KeysBody).guests);
    return answer;
  }

  async function keysFor(id: string, url: URL, pass: () => Promise<Response>): Promise<Response> {
    const answer = await pass();
    if (server.shownList !== null || server.hidesList) {
      const body = { ...((await answer.json()) as KeysBody), guests: server.shownList };
      return Response.json(body, { headers: { date: answer.headers.get('date') ?? '' } });
    }
    if (!server.isHostile || answer.status !== 200) return answer;
    const isBehind = id === server.keptBehind;
    if (!isBehind && chance.is(0.1)) return problem(404, 'not_found');
    const [told, after] = [(await answer.json()) as KeysBody, Number(url.searchParams.get('after') ?? 0)];
    const body = await spoiltGuests(told, parts, server);
    if (!isBehind && chance.is(0.5)) return Response.json(body);
    // A device asks from the ring before its own one on.
    if (isBehind) return Response.json({ ...body, rings: body.rings.slice(0, 1), n: Math.min(body.n, after + 1) });
    return Response.json(await spoiltKeys(body, after, parts, server));
  }

  async function putKeys(ring: string, pass: () => Promise<Response>): Promise<Response> {
    const does = server.isHostile ? chance.pick([...PASS, ...SWALLOW, 'after', 'conflict']) : 'pass';
    if (does === 'conflict') return problem(409, 'keys_conflict');
    if (does === 'swallow') {
      rings.push(ring);
      return Response.json({ n: numberOf(ring) });
    }
    const answer = await pass();
    if (answer.ok) rings.push(ring);
    return does === 'after' ? cut() : answer;
  }

  async function putGuests(id: string, list: string, pass: () => Promise<Response>): Promise<Response> {
    const lies = server.isHostile ? chance.pick([...PASS, ...PASS, 'swallow', 'after', 'conflict']) : 'pass';
    const does = server.forgetsLists ? 'swallow' : lies;
    server.onList(id, list);
    if (does === 'conflict') return problem(409, 'keys_conflict');
    lists.push(list);
    const answer = does === 'swallow' ? Response.json({ n: numberOf(list) }) : await pass();
    if (does === 'after') cut();
    if (answer.ok) knows(id, list);
    return answer;
  }

  /** Takes something sealed. It is known from then on, whatever becomes of it. */
  async function post(about: Omit<Posted, 'messageId'>, fake: (id: string) => object, pass: () => Promise<Response>) {
    const does = server.isHostile ? chance.pick([...PASS, ...PASS, 'swallow', 'swallow', 'before', 'after']) : 'pass';
    const answer = does === 'swallow' || does === 'before' ? null : await pass();
    const body = answer === null ? null : ((await answer.clone().json()) as { message_id?: string });
    const messageId = body?.message_id ?? crypto.randomUUID();
    posted.push({ ...about, messageId });
    lastStatus = does === 'swallow' ? 201 : does === 'pass' ? (answer?.status ?? 0) : 0;
    if (does === 'swallow') return Response.json(fake(messageId), { status: about.kind === 'message' ? 201 : 200 });
    return does === 'pass' && answer !== null ? answer : cut();
  }

  const askedView = (): object | null =>
    server.asksAs === null ? server.asking : { ...server.asking, device_id: server.asksAs, relink: undefined };

  async function listSessions(pass: () => Promise<Response>): Promise<Response> {
    const { device_id = '' } = (server.asking ?? {}) as { device_id?: string };
    if (server.sessionEnd === null) return pass();
    return Response.json({ sessions: [sessionUntil(device_id, server.sessionEnd)], stale: false });
  }

  const server: HostileServer = {
    isHostile: false,
    rings,
    posted,
    get lastStatus() {
      return lastStatus;
    },
    get granted() {
      return granted;
    },
    asking: null,
    asksAs: null,
    removedSigner: null,
    removedSig: '',
    keptBehind: null,
    lists,
    onList: () => {},
    guestSigners: [],
    shownList: null,
    hidesList: false,
    listOf,
    listsOf,
    forgetsLists: false,
    sessionEnd: null,
    clockMs: 0,
    fetchFor: (device) => async (address, init) => {
      const url = new URL(address);
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(device.headers)) headers.set(name, value);
      headers.delete('authorization');
      const pass = async () => {
        const answer = await fetch(`${replica.url}${url.pathname}${url.search}`, { ...init, headers });
        if (server.clockMs === 0) return answer;
        const shown = new Headers(answer.headers);
        shown.set('date', new Date(Date.now() + server.clockMs).toUTCString());
        const body = answer.status === 204 ? null : await answer.text();
        return new Response(body, { status: answer.status, headers: shown });
      };
      const sent = typeof init.body === 'string' ? (JSON.parse(init.body) as Record<string, string>) : {};
      const [from, sealed = ''] = [device.id, sent['sealed']];
      const to = sent['to_device_id'] ?? sent['to'] ?? '';
      switch (`${init.method ?? 'GET'} ${url.pathname}`) {
        case 'GET /api/keys':
          return getKeys(from, url, pass);
        case 'PUT /api/keys':
          return putKeys(sent['ring'] ?? '', pass);
        case 'PUT /api/keys/guests':
          return putGuests(from, sent['guests'] ?? '', pass);
        case 'GET /api/auth/sessions':
          return listSessions(pass);
        case 'GET /api/auth/qr/request':
          return Response.json(askedView());
        case 'POST /api/auth/qr/approve':
          granted = sealed;
          return Response.json({ status: 'approved' });
        case 'POST /api/message': {
          const target = { device_id: to === '*' ? null : to, name: 'any', online: false, pushed: false };
          const fake = (id: string) => ({ message_id: id, to: [target], created_at: Date.now() });
          return post({ kind: 'message', from, to, sealed }, fake, pass);
        }
        case 'PUT /api/clipboard': {
          const about = { content: '', sealed, content_type: 'text/plain', source_device_id: from };
          const fake = () => ({ ...about, source_device_name: 'any', updated_at: Date.now(), expires_at: null });
          return post({ kind: 'clipboard', from, to: '', sealed }, fake, pass);
        }
        default:
          return pass();
      }
    },
  };
  return server;
}
