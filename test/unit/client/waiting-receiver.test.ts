import { setImmediate as nextTurn } from 'node:timers/promises';
import { makeEmitter } from '../../../shared/client/emitter.ts';
import type { ClientEvents } from '../../../shared/client/api.ts';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { Caller } from '../../../shared/client/http/caller.ts';
import { makeRun } from '../../../shared/client/transfers/transfer-run.ts';
import { waitForReceiver } from '../../../shared/client/transfers/waiting-receiver.ts';
import type { Transfer } from '../../../shared/client/wire.ts';
import { makeManualClock } from './manual-clock.ts';

const transfer = {
  ...{ transfer_id: 't', state: 'PENDING', files: [], updated_at: 1, error: null },
  ...{ sender: { device_id: 'laptop', name: 'Laptop' }, receiver: { device_id: 'phone', name: 'Phone' } },
} as unknown as Transfer;

/**
 * Makes an offer to a device that this one believes to be away. `answers` are what the service says, one after the
 * other.
 */
function scene(...answers: (boolean | Error | Promise<boolean>)[]) {
  const asked: string[] = [];
  const phoneIs = (online: boolean) => [{ device_id: 'phone', name: 'Phone', type: null, online, last_seen_at: null }];
  const call = async (name: string) => {
    asked.push(name);
    const answer = name === 'getPresence' ? answers.shift() : undefined;
    if (answer instanceof Error) throw answer;
    return { body: { transfer, devices: phoneIs((await answer) === true) } };
  };
  const clock = makeManualClock();
  const caller = { call } as unknown as Caller;
  const run = makeRun({
    ...{ transfer, side: 'sender' as const, caller, clock, files: [], signals: [] },
    ...{ onProblem() {}, onOver() {} },
  });
  const emitter = makeEmitter<ClientEvents>(() => {});
  let isThere = false;
  waitForReceiver({
    ...{ run, caller, clock, emitter, isThere: false, offlineMs: 60_000, onProblem() {} },
    onThere: () => void (isThere = true),
  });
  return {
    asked,
    isThere: () => isThere,
    accept: () => run.update({ ...transfer, state: 'ACCEPTED' }),
    hear: (online: boolean) => emitter.emit('presence', phoneIs(online)),
    async pass(ms: number) {
      clock.advance(ms);
      for (let i = 0; i < 10; i += 1) await nextTurn();
    },
  };
}

test('a receiver that came while this device had no stream is not called offline', async () => {
  const { asked, pass } = scene(true);
  await pass(60_000);
  expect(asked).toEqual(['getPresence']);
});

test('a receiver that is away ends the transfer, once the service could be asked', async () => {
  const { asked, pass } = scene(new BatonClientError('network', 'away', { action: 'retry' }), false);
  await pass(60_000);
  expect(asked).toEqual(['getPresence']);
  await pass(10_000);
  expect(asked).toEqual(['getPresence', 'getPresence', 'failTransfer']);
});

test('a receiver that was there at the end of the wait has come, and may leave for a while', async () => {
  const { asked, isThere, hear, pass } = scene(true, false);
  await pass(60_000);
  await pass(2_000);
  hear(false);
  await pass(599_000);
  expect(asked).toEqual(['getPresence']);
  expect(isThere()).toBe(true);
  await pass(1_000);
  expect(asked).toEqual(['getPresence', 'getPresence', 'failTransfer']);
});

test.each(['came', 'accepted'])(
  'a receiver that %s while the service was asked is not called offline by its older answer',
  async (what) => {
    let answer: (online: boolean) => void = () => {};
    const asking = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const { asked, hear, accept, pass } = scene(asking);
    hear(false);
    await pass(60_000);
    if (what === 'came') hear(true);
    else accept();
    answer(false);
    await pass(1_000);
    expect(asked).toEqual(['getPresence']);
  },
);
