import { makePushQueue, type PushSchedule } from '../../../services/sync/push/push-queue.ts';

/** Makes an account whose script refuses, as the real ones do, while it has subscriptions and is not scheduled. */
function makeScene({ subscribed = true, isEnabled = true, schedule = () => Promise.resolve() } = {}) {
  const steps: string[] = [];
  const queue = makePushQueue({
    isEnabled,
    accountOf: () => 'ann',
    scheduleDue: (account) => {
      steps.push(`index ${account}`);
      return schedule();
    },
    pushNow: (_, job) => steps.push(`push ${job}`),
    onFailure: (task) => steps.push(`failed: ${task}`),
  });
  const script = (_: object, { pushes }: { pushes: PushSchedule }): Promise<{ id: string; jobs: string[] | null }> => {
    steps.push(`script ${pushes}`);
    if (subscribed && pushes === 'unscheduled') return Promise.resolve({ id: '', jobs: null });
    return Promise.resolve({ id: 'm1', jobs: pushes === 'scheduled' ? ['job'] : [] });
  };
  const accept = queue.enqueuing(script);
  const register = queue.enqueuingAlways(() => {
    steps.push('script');
    return Promise.resolve({ jobs: [] });
  });
  const keys = { push: 'p:{ann}:push' };
  return { steps, send: () => accept(keys, (pushes) => ({ pushes })), register: () => register(keys, {}) };
}

test('an account without subscriptions costs one script and no index', async () => {
  const { steps, send } = makeScene({ subscribed: false });
  await expect(send()).resolves.toMatchObject({ id: 'm1' });
  expect(steps).toEqual(['script unscheduled']);
});

test('a script enqueues only when its account is in the index already', async () => {
  const { steps, send } = makeScene();
  await expect(send()).resolves.toMatchObject({ id: 'm1' });
  expect(steps).toEqual(['script unscheduled', 'index ann', 'script scheduled', 'push job']);
});

test('an account that is known to have subscriptions is scheduled first, and its script is sent once', async () => {
  const { steps, send, register } = makeScene();
  await register();
  await send();
  expect(steps).toEqual(['index ann', 'script', 'index ann', 'script scheduled', 'push job']);
});

test('a message is accepted also while the index is away', async () => {
  const { steps, send } = makeScene({ schedule: () => Promise.reject(new Error('away')) });
  await expect(send()).resolves.toMatchObject({ id: 'm1' });
  expect(steps.slice(1)).toEqual(['index ann', 'failed: schedule push', 'script scheduled', 'push job']);
});

test('without pushes nothing is scheduled', async () => {
  const { steps, send } = makeScene({ isEnabled: false });
  await send();
  expect(steps).toEqual(['script off']);
});
