import type { TransferState } from '../../shared/contract/modules/transfers.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { makeParties, offer, type Parties } from '../transfers/parties.ts';

const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
let replicas: ReplicaProcess[];

beforeAll(async () => {
  replicas = await Promise.all([startReplica(options), startReplica(options)]);
});
afterAll(stopReplicas);

const ACTIONS = ['accept', 'reject', 'p2p', 'relay', 'complete', 'fail', 'cancel'] as const;
type Action = (typeof ACTIONS)[number];
type Role = 'sender' | 'receiver' | 'third';

/** The table of the contract: the states that may follow each state. */
const MAY_GO: Record<TransferState, readonly TransferState[]> = {
  PENDING: ['ACCEPTED', 'P2P_ACTIVE', 'RELAY_ACTIVE', 'FAILED', 'CANCELLED'],
  ACCEPTED: ['P2P_ACTIVE', 'RELAY_ACTIVE', 'FAILED', 'CANCELLED'],
  P2P_ACTIVE: ['RELAY_ACTIVE', 'DONE', 'FAILED', 'CANCELLED'],
  RELAY_ACTIVE: ['P2P_ACTIVE', 'DONE', 'FAILED', 'CANCELLED'],
  DONE: [],
  FAILED: [],
  CANCELLED: [],
};

/** Makes small, seeded random numbers (mulberry32), so that a failure can be repeated. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Model {
  state: TransferState;
  relayOpen: boolean;
  accepted: boolean;
  rejected: boolean;
}

const ALLOWED: Partial<Record<Action, Role>> = {
  accept: 'receiver',
  reject: 'receiver',
  complete: 'receiver',
  relay: 'sender',
};

/** Returns what the contract says of one action: the state after it, or the code of the refusal. */
function expected(model: Model, role: Role, action: Action): TransferState | 'not_a_party' | 'invalid_transition' {
  if (role === 'third' || (ALLOWED[action] ?? role) !== role) return 'not_a_party';
  const { state, relayOpen, accepted, rejected } = model;
  const goal: Record<Action, TransferState> = {
    accept: relayOpen ? 'RELAY_ACTIVE' : 'ACCEPTED',
    reject: 'CANCELLED',
    p2p: 'P2P_ACTIVE',
    relay: state === 'PENDING' ? 'PENDING' : 'RELAY_ACTIVE',
    complete: 'DONE',
    fail: 'FAILED',
    cancel: 'CANCELLED',
  };
  const ended = MAY_GO[state].length === 0;
  if (action === 'accept' && accepted && state !== 'FAILED' && state !== 'CANCELLED') return state;
  if (action === 'reject') {
    if (rejected) return state;
    return state === 'PENDING' ? 'CANCELLED' : 'invalid_transition';
  }
  if (action === 'relay' && state === 'PENDING') return 'PENDING';
  if (goal[action] === state) return state;
  return !ended && MAY_GO[state].includes(goal[action]) ? goal[action] : 'invalid_transition';
}

function advance(model: Model, action: Action, state: TransferState): void {
  if (action === 'relay') model.relayOpen = true;
  if (action === 'reject') model.rejected = true;
  if (!['PENDING', 'FAILED', 'CANCELLED'].includes(state)) model.accepted = true;
  model.state = state;
}

async function act(parties: Parties, replica: ReplicaProcess, role: Role, action: Action, transferId: string) {
  const given = { params: { transfer_id: transferId }, ...(['fail', 'cancel'].includes(action) && { body: {} }) };
  const { body } = await parties[role].on(replica).call(`${action}Transfer`, given);
  return (body as { transfer: { state: TransferState } }).transfer.state;
}

test.each(Array.from({ length: 8 }, (_, seed) => seed))(
  'random actions of the parties on two replicas follow the contract’s table (seed %i)',
  async (seed) => {
    const random = makeRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const parties = await makeParties(replicas[0] as ReplicaProcess);
    for (let sequence = 0; sequence < 25; sequence++) {
      const { transfer_id: id } = await offer(parties, pick(replicas));
      const model: Model = { state: 'PENDING', relayOpen: false, accepted: false, rejected: false };
      for (let step = 0; step < 12; step++) {
        const role = pick(['sender', 'sender', 'receiver', 'receiver', 'third'] as const);
        // Ending actions are rarer, so that the walk covers the middle of the machine.
        const action = pick(random() < 0.8 ? ACTIONS.slice(0, 5) : ACTIONS);
        const before = { ...model };
        const says = expected(model, role, action);
        const outcome = await act(parties, pick(replicas), role, action, id).catch(
          (error: unknown) => (error as { code: string }).code,
        );
        expect({ before, role, action, outcome }).toEqual({ before, role, action, outcome: says });
        if (says !== 'not_a_party' && says !== 'invalid_transition') advance(model, action, says);
      }
      const [bySender, byReceiver] = await Promise.all(
        [parties.sender, parties.receiver].map((device, i) =>
          device.on(replicas[i] as ReplicaProcess).call('getTransfer', { params: { transfer_id: id } }),
        ),
      );
      const { uploads: _u, ...seenBySender } = bySender?.body.transfer ?? {};
      const { downloads: _d, ...seenByReceiver } = byReceiver?.body.transfer ?? {};
      expect(seenBySender).toEqual(seenByReceiver);
      expect(seenBySender).toMatchObject({ state: model.state });
      await act(parties, pick(replicas), 'sender', 'cancel', id).catch(() => undefined);
    }
  },
);

// Proves G12.
test('accept, reject and cancel raced from two replicas have one winner, and both sides agree, a thousand times', async () => {
  const racers = await Promise.all(Array.from({ length: 10 }, () => makeParties(replicas[0] as ReplicaProcess)));
  const [one, two] = replicas as [ReplicaProcess, ReplicaProcess];
  const race = async (parties: Parties) => {
    const [onSender, onReceiver] = [parties.sender.listen(one), parties.receiver.listen(two)];
    await Promise.all([onSender.next('ready'), onReceiver.next('ready')]);
    for (let round = 0; round < 100; round++) {
      const { transfer_id: id } = await offer(parties, round % 2 ? one : two);
      const contest =
        round % 3 === 0
          ? [act(parties, one, 'receiver', 'accept', id), act(parties, two, 'receiver', 'reject', id)]
          : [act(parties, one, 'receiver', 'reject', id), act(parties, two, 'sender', 'cancel', id)];
      const outcomes = await Promise.allSettled(contest);
      const won = outcomes.filter(({ status }) => status === 'fulfilled').length;
      const { body } = await parties.sender.on(one).call('getTransfer', { params: { transfer_id: id } });
      const isThis = ({ data }: { data: { transfer: { transfer_id: string } } }) => data.transfer.transfer_id === id;
      const [seenBySender, seenByReceiver] = await Promise.all([
        onSender.next('transfer:updated', isThis),
        onReceiver.next('transfer:updated', isThis),
      ]);
      // A cancel after a reject repeats what happened. A reject after a cancel, or beside an accept, is refused.
      expect(won).toBeGreaterThanOrEqual(1);
      if (round % 3 === 0) expect(won).toBe(1);
      expect(seenBySender.data).toEqual(seenByReceiver.data);
      expect(seenBySender.data.transfer.state).toBe(body.transfer.state);
      if (body.transfer.state !== 'CANCELLED') await act(parties, one, 'sender', 'cancel', id);
    }
    await Promise.all([onSender.stop(), onReceiver.stop()]);
  };

  await expect(Promise.all(racers.map(race))).resolves.toHaveLength(racers.length);
}, 300_000);
