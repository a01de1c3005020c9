import type { Stream } from '../../../services/sync/hub/stream.ts';
import { Sweeper } from '../../../services/sync/hub/sweeper.ts';

test('streams whose part of the store refuses do not keep the others from being swept, or ends from being told', async () => {
  const streams = new Map<string, Stream>();
  const add = (id: string, account: string) => streams.set(id, { id, account, failedAttaches: 1 } as Stream);
  for (let i = 0; i < 3_000; i++) add(`refused-${i}`, 'refused');
  for (let i = 0; i < 30; i++) add(`swept-${i}`, 'swept');
  const [sweeps, ends] = [new Map<string, number>(), new Map<string, number>()];
  let settle = (): void => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const count = (counts: Map<string, number>, { id }: Stream) => {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const all = [...streams.values()].filter(({ account }) => account === 'swept');
    if (all.every((one) => (sweeps.get(one.id) ?? 0) >= 3) && (ends.get('leaving') ?? 0) >= 3) settle();
  };
  const sweeper = new Sweeper({
    streams,
    sweepMs: 2_000,
    attach: (stream) => {
      if (stream.account === 'refused') return Promise.reject(new Error('NOREPLICAS'));
      count(sweeps, stream);
      return Promise.resolve(true);
    },
    onAttachFailed: () => undefined,
    detach: (stream) => {
      count(ends, stream);
      return Promise.reject(new Error('NOREPLICAS'));
    },
    look: () => Promise.resolve(0),
    liveReplicas: () => 1,
    isUp: () => true,
    onFailure: () => undefined,
  });
  sweeper.start();
  void sweeper.attachAll();
  sweeper.detachSoon({ id: 'leaving', account: 'refused' } as Stream);
  await settled;
  expect(ends.get('leaving')).toBeGreaterThanOrEqual(3);
  sweeper.stop();
}, 30_000);
