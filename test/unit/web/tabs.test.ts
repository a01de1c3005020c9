import { makeChannels, makePageLocks } from '../../support/page-locks.ts';

/* Which tab leads. The tab of the test is the real code. */

const locksOf = makePageLocks();
Object.assign(globalThis, { BroadcastChannel: makeChannels() });
Object.defineProperty(globalThis, 'navigator', { value: { locks: locksOf('page') }, configurable: true });
const { joinTabs } = await import('../../../services/web/engine/tabs.ts');
const other = locksOf('other page');

const untilNext = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** Joins the tabs of an account, and counts how often this one began to lead and stepped back. */
function join(account: string, lead: (count: number) => void) {
  const counted = { begun: 0, back: 0 };
  const tabs = joinTabs({
    account,
    onMessage: () => {},
    lead() {
      counted.begun += 1;
      lead(counted.begun);
    },
    stepBack: async () => void (counted.back += 1),
  });
  tabs.join();
  return { tabs, counted };
}

test('a tab that cannot lead leaves that to another one, and does not try it without end', async () => {
  const { tabs, counted } = join('unable', (count) => {
    if (count === 50) tabs.leave();
    throw new Error('The session is over');
  });
  await untilNext();
  expect(counted).toEqual({ begun: 1, back: 1 });
  expect(tabs.isLeading.value).toBe(false);
  expect(await other.request('baton-leader-unable', async () => 'led')).toBe('led');
  tabs.leave();
});

test('a tab that has lost the lead to another one leads again after it', async () => {
  const { tabs, counted } = join('lost', () => {});
  await untilNext();
  await other.request('baton-leader-lost', { steal: true }, untilNext);
  await untilNext();
  expect(counted).toEqual({ begun: 2, back: 1 });
  expect(tabs.isLeading.value).toBe(true);
  tabs.leave();
});
