import { failureOf } from '../../../services/cli/failure.ts';
import { errorOf, stateOf } from '../../../services/web/history/history.ts';
import { englishErrors } from '../../../services/web/texts/english-errors.ts';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { Caller } from '../../../shared/client/http/caller.ts';
import { makeRun, type Side } from '../../../shared/client/transfers/transfer-run.ts';
import type { Transfer } from '../../../shared/client/wire.ts';

/*
 * How a transfer ended, in the words of clients. They blame the other device only if the service says that it ended the
 * transfer.
 */

const PARTIES = {
  sender: { device_id: 'sender-1', name: 'Laptop' },
  receiver: { device_id: 'receiver-1', name: 'Phone' },
};
const open = {
  transfer_id: 't',
  state: 'PENDING',
  files: [],
  updated_at: 1,
  error: null,
  ...PARTIES,
} as unknown as Transfer;
const ended = (state: Transfer['state'], code: string, by: string | null | undefined): Transfer =>
  ({ ...open, state, updated_at: 2, error: { code, detail: null, by_device_id: by } }) as Transfer;

function makeSide(side: Side) {
  const bodies: unknown[] = [];
  const call = async (_name: string, { body }: { body: unknown }) => {
    bodies.push(body);
    return { body: { transfer: open } };
  };
  const clock = { now: () => 0, after: () => () => {} };
  const caller = { call } as unknown as Caller;
  const run = makeRun({ transfer: open, side, caller, clock, files: [], signals: [], onProblem() {}, onOver() {} });
  return { run, bodies };
}

async function toldTo(side: Side, transfer: Transfer) {
  const { run } = makeSide(side);
  run.update(transfer);
  const error = (await run.done.catch((reason: unknown) => reason)) as BatonClientError;
  return [error.code, error.byOther, failureOf(error).message];
}

test.each<[string, Side, Transfer, [string, boolean, string]]>([
  [
    'a receiver that rejects',
    'sender',
    ended('CANCELLED', 'rejected', 'receiver-1'),
    ['rejected', true, 'The other device refused the files.'],
  ],
  [
    'one that rejected elsewhere',
    'receiver',
    ended('CANCELLED', 'rejected', 'receiver-1'),
    ['rejected', false, 'The files were refused.'],
  ],
  [
    'a sender that says rejected',
    'receiver',
    ended('FAILED', 'rejected', 'sender-1'),
    ['failed', true, 'The other device could not finish (rejected)'],
  ],
  [
    'a sender that cancels as rejected',
    'receiver',
    ended('CANCELLED', 'rejected', 'sender-1'),
    ['cancelled', true, 'The other device cancelled the transfer.'],
  ],
  [
    'the other one cancelling',
    'sender',
    ended('CANCELLED', 'cancelled', 'receiver-1'),
    ['cancelled', true, 'The other device cancelled the transfer.'],
  ],
  [
    'its own cancelling',
    'sender',
    ended('CANCELLED', 'cancelled', 'sender-1'),
    ['cancelled', false, 'The transfer was cancelled.'],
  ],
  [
    'a service that ended it',
    'sender',
    ended('CANCELLED', 'erased', null),
    ['cancelled', false, 'The transfer was cancelled.'],
  ],
  [
    'a service that does not say who',
    'sender',
    ended('CANCELLED', 'rejected', undefined),
    ['cancelled', false, 'The transfer was cancelled.'],
  ],
  [
    'its own waiting in vain',
    'sender',
    ended('FAILED', 'peer_offline', 'sender-1'),
    ['peer_offline', false, 'The other device was not connected in time'],
  ],
  [
    'the other one saying that it was away',
    'receiver',
    ended('FAILED', 'peer_offline', 'sender-1'),
    ['failed', true, 'The other device could not finish (peer_offline)'],
  ],
])('%s, told to its %s', async (_what, side, transfer, told) => {
  expect(await toldTo(side, transfer)).toEqual(told);
});

test.each(['rejected', 'cancelled', 'failed'])(
  'a client never gives the reason %s, which the service says itself',
  async (code) => {
    const { run, bodies } = makeSide('sender');
    await run.controls.cancel(code);
    await run.fail(new BatonClientError(code, 'over', { action: 'tell-user' }));
    expect(bodies).toEqual([{}, {}]);
    const other = makeSide('sender');
    await other.run.fail(new BatonClientError('source_failed', 'over', { action: 'tell-user' }));
    expect(other.bodies).toEqual([{ reason: 'source_failed' }]);
  },
);

test('the app calls a transfer refused, and its other device offline, only where that is so', () => {
  expect(stateOf(ended('CANCELLED', 'rejected', 'receiver-1'))).toBe('refused');
  expect(stateOf(ended('CANCELLED', 'rejected', 'sender-1'))).toBe('cancelled');
  expect(stateOf(ended('FAILED', 'rejected', 'receiver-1'))).toBe('failed');
  expect(errorOf(ended('FAILED', 'peer_offline', 'sender-1'), true)).toBe('peer_offline');
  expect(errorOf(ended('FAILED', 'peer_offline', 'sender-1'), false)).toBe('failed');
  expect(errorOf(ended('FAILED', 'access_denied', 'receiver-1'), true)).toBe('failed');
  expect(errorOf(ended('FAILED', 'digest_mismatch', 'receiver-1'), true)).toBe('digest_mismatch');
  expect(errorOf(open, true)).toBeNull();
});

test('the app says of the other device what that device reported of itself', () => {
  expect(errorOf(ended('FAILED', 'sink_failed', 'receiver-1'), true)).toBe('other_sink_failed');
  expect(errorOf(ended('FAILED', 'sink_failed', 'receiver-1'), false)).toBe('sink_failed');
  expect(errorOf(ended('FAILED', 'no_space', 'receiver-1'), true)).toBe('other_sink_failed');
  expect(errorOf(ended('FAILED', 'source_failed', 'sender-1'), false)).toBe('other_source_failed');
  expect(errorOf(ended('FAILED', 'source_failed', 'sender-1'), true)).toBe('source_failed');
  // If the other device lost its network, that is not this device's network.
  expect(errorOf(ended('FAILED', 'network', 'receiver-1'), true)).toBe('failed');
  const said: Readonly<Record<string, string>> = englishErrors;
  for (const code of ['failed', 'other_sink_failed', 'other_source_failed'])
    expect(said[code]).toMatch(/^The other device/);
});

test('what comes later by its state is not missed where the clock of the service was set back', async () => {
  const at = (state: Transfer['state'], updated_at: number) => ({ ...open, state, updated_at });
  const { run } = makeSide('sender');
  run.update(at('P2P_ACTIVE', 100));
  run.update(at('ACCEPTED', 200));
  expect(run.transfer.state).toBe('P2P_ACTIVE');
  run.update(at('RELAY_ACTIVE', 90));
  expect(run.transfer.state).toBe('P2P_ACTIVE');
  run.update(at('DONE', 50));
  expect(await run.done).toMatchObject({ state: 'DONE' });
  const other = makeSide('sender');
  other.run.update(at('ACCEPTED', 0));
  expect(other.run.transfer.state).toBe('ACCEPTED');
});
