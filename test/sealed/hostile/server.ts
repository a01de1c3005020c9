import type { DeviceSession } from '../../../shared/contract/modules/sessions.ts';
import type { ReplicaProcess } from '../../support/replicas.ts';
import type { AccountName, Attacker } from './attacker.ts';
import type { Chance } from './chance.ts';
import type { HostileServer } from './hostile-server.ts';
import { numberOf, spoiltGuests, spoiltKeys } from './lies.ts';
import type { KeysBody, Posted, Proof } from './passed.ts';
import { makeRelay } from './relay.ts';

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

/** Returns a session of the list of sessions. */
const sessionUntil = (device_id: string, expires_at: number): DeviceSession => ({
  ...{ device_id, expires_at, session_id: null, name: 'any', type: null, scope: null, persist: null },
  ...{ online: false, current: false, created_at: null, last_active_at: null },
});

export function makeHostileServer(parts: Parts): HostileServer {
  const { chance, replica } = parts;
  const rings: string[] = [];
  const posted: Posted[] = [];
  const lists: string[] = [];
  const proofs: Proof[] = [];
  const listOf = new Map<string, string | null>();
  const listsOf = new Map<string, Set<string>>();
  function knows(id: string, list: string | null): void {
    listOf.set(id, list);
    if (list !== null) listsOf.set(id, (listsOf.get(id) ?? new Set()).add(list));
  }
  let lastStatus = 0;
  const grants: string[] = [];

  async function getKeys(id: string, url: URL, pass: () => Promise<Response>): Promise<Response> {
    if (server.hidesKeys) return problem(404, 'not_found');
    if (server.forgedChain !== null) return forgedKeys(server.forgedChain, Number(url.searchParams.get('after') ?? 0));
    const answer = await keysFor(id, url, pass);
    if (answer.status !== 200) return answer;
    const body = (await answer.clone().json()) as KeysBody;
    knows(id, body.guests);
    if (server.announces.length === 0) return answer;
    const date = answer.headers.get('date');
    const deletions = [...body.deletions, ...server.announces];
    return Response.json({ ...body, deletions }, date === null ? {} : { headers: { date } });
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

  const forgedKeys = (chain: readonly string[], after: number): Response =>
    Response.json({ rings: chain.slice(after, after + 8), n: chain.length, guests: null, deletions: [] });

  async function putKeys(ring: string, pass: () => Promise<Response>): Promise<Response> {
    if (server.forgedChain !== null) {
      server.forgedChain = [...server.forgedChain, ring];
      return Response.json({ n: numberOf(ring) });
    }
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

  /** Takes the signature of a member. The removal of keys is never carried out: it would end the run. */
  async function takeProof(proof: Proof, pass: () => Promise<Response>): Promise<Response> {
    proofs.push(proof);
    if (proof.asks !== 'keep' || server.dropsObjections) return new Response(null, { status: 204 });
    return server.isHostile && chance.is(0.3) ? problem(409, 'keys_conflict') : pass();
  }

  /** Answers a request about the keys of the account; null for any other. */
  function answerKeys(
    from: string,
    asked: string,
    { url, sent, pass }: { url: URL; sent: Record<string, string>; pass: () => Promise<Response> },
  ): Promise<Response> | null {
    switch (asked) {
      case 'GET /api/keys':
        return getKeys(from, url, pass);
      case 'PUT /api/keys':
        return putKeys(sent['ring'] ?? '', pass);
      case 'PUT /api/keys/guests':
        return putGuests(from, sent['guests'] ?? '', pass);
      case 'DELETE /api/keys':
        return takeProof({ ...sent, asks: 'delete', from }, pass);
      case 'DELETE /api/me/data':
        return takeProof({ ...sent, asks: 'erase', from }, pass);
      case 'POST /api/keys/keep':
        return takeProof({ ...sent, asks: 'keep', from }, pass);
      default:
        return null;
    }
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
    grants,
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
    forgedChain: null,
    hidesKeys: false,
    announces: [],
    proofs,
    dropsObjections: false,
    relay: makeRelay((about) => void posted.push({ ...about, plain: '', messageId: crypto.randomUUID() })),
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
      const own = await server.relay.answer(device.id, url, init);
      if (own !== null) return own;
      const sent = typeof init.body === 'string' ? (JSON.parse(init.body) as Record<string, string>) : {};
      const [from, sealed = '', plain = ''] = [device.id, sent['sealed'], sent['content']];
      const to = sent['to_device_id'] ?? sent['to'] ?? '';
      const asked = `${init.method ?? 'GET'} ${url.pathname}`;
      const ofKeys = answerKeys(from, asked, { url, sent, pass });
      if (ofKeys !== null) return ofKeys;
      switch (asked) {
        case 'GET /api/auth/sessions':
          return listSessions(pass);
        case 'GET /api/auth/qr/request':
          return Response.json(askedView());
        case 'POST /api/auth/qr/approve':
          grants.push(sealed);
          return Response.json({ status: 'approved' });
        case 'POST /api/message': {
          const target = { device_id: to === '*' ? null : to, name: 'any', online: false, pushed: false };
          const fake = (id: string) => ({ message_id: id, to: [target], created_at: Date.now() });
          return post({ kind: 'message', from, to, sealed, plain }, fake, pass);
        }
        case 'PUT /api/clipboard': {
          const about = { content: '', sealed, content_type: 'text/plain', source_device_id: from };
          const fake = () => ({ ...about, source_device_name: 'any', updated_at: Date.now(), expires_at: null });
          return post({ kind: 'clipboard', from, to: '', sealed, plain }, fake, pass);
        }
        default:
          return pass();
      }
    },
  };
  return server;
}
