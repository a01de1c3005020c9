import { randomBytes } from 'node:crypto';
import type { MintSession } from '../../shared/contract/modules/broker.ts';
import { BatonError } from '../../shared/contract/errors.ts';
import { makeHost } from '../../services/sync/composition/host.ts';
import { Store } from '../../services/sync/redis/store.ts';
import type { MintedSession } from '../../services/sync/sessions/auth-broker/broker-client.ts';
import { makeGrants } from '../../services/sync/signin/approval/grants.ts';
import { makeConsume } from '../../services/sync/signin/polling/consume.ts';
import { makePolling, type PollOutcome } from '../../services/sync/signin/polling/polling.ts';
import { makePolls, type Polls } from '../../services/sync/signin/polling/polls.ts';
import { digest } from '../../services/sync/signin/request-secrets.ts';
import { type LoginStore, makeLoginStore } from '../../services/sync/signin/store.ts';
import type { Violation } from '../chaos/checker/violation.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import type { Fleet, Member } from './fleet.ts';
import type { World } from './world/world.ts';

const ACCOUNT = 'logins';

/** How long a request lives. Two mints that stand still may outlive it, and one leaves time for another poll's. */
const REQUEST_MS = 14_000;

/** How long a poll waits for a decision. Polls follow each other until they are refused, or the second time is over. */
const WAIT_MS = 1_500;
const POLLS_MS = 24_000;

/** The polls of one device that are under way at the same time, on any replicas. */
const POLLS = 3;

const DECIDED_WITHIN_MS = 3_000;

/** The pause before a request is started again. Its replica was about to connect to the store, or is gone. */
const AGAIN_MS = 300;

/** How long an answer is awaited. A replica that is gone does not answer. */
const GIVES_UP_MS = 20_000;

/** The duration of a mint, in ms. Some stand still for longer than their lease, which lasts 6 s. */
const MINTED_MS = [5, 300] as const;
const STANDS_STILL_MS = [6_200, 9_000] as const;

const WAKES_AFTER_US = 1_000;

interface LoginLoadParts {
  world: World;
  fleet: Fleet;
  random: Random;
  now: () => number;
  /** Receives a violation for each request whose session more than one poll got. */
  violations: Violation[];
}

interface Asked {
  requestId: string;
  pollSecret: string;
}

/** The polls of one replica, with its own connection to the store. */
interface Poller {
  store: LoginStore;
  polls: Polls;
  poll: (asked: Asked) => Promise<PollOutcome>;
}

/** Login requests: polls on several replicas, a decision, and a broker that fails or whose answer comes late. */
export class LoginLoad {
  readonly #parts: LoginLoadParts;
  readonly #pollers = new Map<Member, Poller>();

  constructor(parts: LoginLoadParts) {
    this.#parts = parts;
  }

  /** Does something at a replica, as if its code did it. Resolves to null if that fails, or the replica ends. */
  #at<T>(act: (poller: Poller) => Promise<T>): Promise<T | null> {
    const { world, fleet } = this.#parts;
    const member = fleet.choose();
    const poller = this.#pollers.get(member) ?? world.as(member.owner, () => this.#makePoller(member));
    this.#pollers.set(member, poller);
    const done = world.as(member.owner, () => act(poller)).catch(() => null);
    return Promise.race([done, wait(GIVES_UP_MS).then(() => null)]);
  }

  #makePoller(member: Member): Poller {
    const host = makeHost(member.config);
    const main = new Store({ ...member.config.redis, rateScale: member.config.http.rateLimitScale, ...host });
    void main.connect();
    const store = makeLoginStore({ scripts: main.probes, keys: main.keys });
    const polls = makePolls();
    const nobody = { broker: null, isRevoked: () => Promise.resolve(false), isForeign: () => Promise.resolve(false) };
    const consume = makeConsume({
      store,
      broker: { mint: (body, key) => this.#mint(body, key), revoke: () => Promise.resolve() },
      ...{ onReplaced: () => Promise.resolve(), expectClaim: () => Promise.resolve() },
      admit: (_, { meta, label }, type) => Promise.resolve({ device_id: meta, name: label, type }),
      grants: makeGrants({ ...nobody, believesCallers: true }),
      kept: () => Promise.reject(new BatonError('session_expired')),
      isRevoked: nobody.isRevoked,
      ownDevice: () => Promise.resolve(null),
      nowMs: () => Promise.resolve(Date.now()),
      lifetimes: { once: 3_600, persist: 86_400 },
    });
    const poll = makePolling({
      ...{ store, polls, consume, channel: () => member.name, onOutcome: () => undefined },
      notify: (waiter, word) => this.#wake(waiter, word),
    });
    const signal = new AbortController().signal;
    return { store, polls, poll: (asked) => poll({ ...asked, waitMs: WAIT_MS, address: '127.0.0.1', signal }) };
  }

  /** Wakes a poll that waits, at its replica. */
  #wake(waiter: string, word: 'read' | 'end'): void {
    const [name = '', pollId = ''] = waiter.split('\n');
    for (const [member, { polls }] of this.#pollers) {
      if (member.name !== name) continue;
      this.#parts.world.after(WAKES_AFTER_US, member.owner, () => polls.wake(pollId, word));
    }
  }

  /** Acts as the broker: one key makes one session. */
  async #mint(body: MintSession, key: string): Promise<MintedSession> {
    const { random } = this.#parts;
    const [fromMs, toMs] = random.next() < 0.5 ? STANDS_STILL_MS : MINTED_MS;
    await wait(random.between(fromMs, toMs));
    if (random.next() < 0.25) throw new BatonError('broker_unavailable');
    const { subject, meta, label, scope, persist } = body;
    return {
      ...{ session_id: digest(key), subject, meta, label, scope, tier: scope, persist, isNew: true },
      ...{ created_at: Date.now(), expires_at: Date.now() + body.ttl_seconds * 1_000 },
      cookie: { name: 'session', value: digest(key), max_age_seconds: null },
      ...{ access_token: digest(key), expires_in: 60, user: { user_id: subject, name: label } },
    };
  }

  /** Runs one request, from its start until nothing more can come of it. */
  async logIn(number: number): Promise<void> {
    const { random, now, violations } = this.#parts;
    const [requestId, pollSecret, code] = [secret(), secret(), secret()];
    const device = `${ACCOUNT}-${number}-device`;
    const fields = { poll: digest(pollSecret), code: digest(code), name: `new ${number}`, type: 'linux', device };
    let isStarted = false;
    while (!isStarted) {
      await wait(AGAIN_MS);
      isStarted = (await this.#at(({ store }) => store.start(requestId, REQUEST_MS, fields))) !== null;
    }
    const untilMs = now() + POLLS_MS;
    let issued = 0;
    const poll = async (): Promise<void> => {
      await wait(random.between(0, WAIT_MS));
      while (now() < untilMs) {
        const outcome = await this.#at((poller) => poller.poll({ requestId, pollSecret }).catch(refusalIn));
        if (outcome === 'refused') return;
        if (outcome !== null && 'issued' in outcome) issued += 1;
        await wait(random.between(0, WAIT_MS));
      }
    };
    await Promise.all([this.#decide(requestId, code), ...Array.from({ length: POLLS }, poll)]);
    if (issued <= 1) return;
    const says = `${issued} polls had the session of the login request ${requestId}`;
    violations.push({ check: 'double', at: now(), account: ACCOUNT, device, says });
  }

  /** One user decides, or two at once, or nobody. */
  async #decide(requestId: string, code: string): Promise<void> {
    const { random } = this.#parts;
    const approved = { user: ACCOUNT, account: ACCOUNT, approver: '', session: '', scope: 'full', persist: 'once' };
    const deciding = random.pick([['approved'], ['approved'], ['approved', 'denied'], ['denied'], []] as const);
    await Promise.all(
      deciding.map(async (state) => {
        await wait(random.between(0, DECIDED_WITHIN_MS));
        const fields = state === 'approved' ? approved : {};
        const decision = { operationId: secret(), account: ACCOUNT, countsTries: true, state, fields };
        const decided = await this.#at(({ store }) => store.decide(requestId, digest(code), decision));
        if (decided !== null && decided.waiter !== '') this.#wake(decided.waiter, 'read');
      }),
    );
  }
}

/** Tells whether a poll was refused for good. Null means a fault, after which another poll may have the session. */
const refusalIn = (error: unknown): 'refused' | null =>
  error instanceof BatonError && error.status < 500 ? 'refused' : null;

const secret = (): string => randomBytes(16).toString('base64url');
