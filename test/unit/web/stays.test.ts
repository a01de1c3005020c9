import type { BatonClient } from '../../../shared/client/index.ts';
import { type Shared, shared } from '../../../services/web/engine/shared-state.ts';
import { watchStays } from '../../../services/web/engine/stays.ts';

type Answer = Awaited<ReturnType<BatonClient['sessions']['list']>>;

const sessionOf = (id: string, scope: 'full' | 'guest', persist: 'once' | 'persist') =>
  ({ device_id: id, scope, persist, expires_at: 1_000 }) as Answer['sessions'][number];
const listOf = (...ids: string[]) => ids.map((id) => ({ device_id: id })) as unknown as Shared['devices'];
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function tell(part: Partial<Shared>): void {
  shared.value = { ...shared.peek(), ...part };
}

/** Watches with these answers, one after the other. An error among them is thrown. */
function watch(...answers: (Answer | Error)[]) {
  let count = 0;
  const sessions = {
    list: async () => {
      const answer = answers[count];
      count += 1;
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('Not expected');
      return answer;
    },
  } as unknown as BatonClient['sessions'];
  tell({ connection: 'online', listed: 'now', me: { scope: 'full' } as Shared['me'], devices: [], stays: {} });
  watchStays({ sessions, state: 'online' }, tell);
  return { asked: () => count };
}

test('the list of sessions is asked for when a device comes or goes, and not when a stream opens again', async () => {
  const both = [sessionOf('a', 'full', 'persist'), sessionOf('b', 'guest', 'once'), sessionOf('c', 'full', 'once')];
  const { asked } = watch({ sessions: both, stale: false }, { sessions: both.slice(0, 1), stale: false });
  tell({ devices: listOf('a', 'b', 'c') });
  await turn();
  expect(shared.value.stays).toEqual({ b: { isGuest: true, until: 1_000 }, c: { isGuest: false, until: 1_000 } });
  tell({ connection: 'offline' });
  tell({ connection: 'online' });
  await turn();
  expect(asked()).toBe(1);
  tell({ devices: listOf('a', 'd') });
  await turn();
  expect(asked()).toBe(2);
  expect(shared.value.stays).toEqual({});
});

test('a failed request is not repeated before the stream opens again, and an old list changes nothing', async () => {
  const guest = { sessions: [sessionOf('b', 'guest', 'once')], stale: false };
  const { asked } = watch(new Error('Too many'), { sessions: [], stale: true }, guest);
  tell({ devices: listOf('a', 'b') });
  await turn();
  tell({ isDegraded: true });
  await turn();
  expect(asked()).toBe(1);
  for (const expected of [2, 3]) {
    tell({ connection: 'offline' });
    tell({ connection: 'online' });
    await turn();
    expect(asked()).toBe(expected);
  }
  expect(shared.value.stays).toEqual({ b: { isGuest: true, until: 1_000 } });
});

test('a guest does not ask for what it may not read', async () => {
  const { asked } = watch();
  tell({ me: { scope: 'guest' } as Shared['me'], devices: listOf('a', 'b') });
  await turn();
  expect(asked()).toBe(0);
});
