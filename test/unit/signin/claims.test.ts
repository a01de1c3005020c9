import { makeClaims } from '../../../services/sync/signin/polling/claims.ts';

function makeScene(streams: string[] = []) {
  const removed: string[] = [];
  const settled: string[] = [];
  const claims = makeClaims({
    schedule: () => Promise.resolve(),
    settle: (_, job) => Promise.resolve(void settled.push(job)),
    hasStream: (_, deviceId) => Promise.resolve(streams.includes(deviceId)),
    remove: ({ deviceId }) => Promise.resolve(Boolean(removed.push(deviceId))),
    onFailure: () => undefined,
  });
  return { claims, removed, settled };
}

test('a session that nobody has used is ended', async () => {
  const { claims, removed, settled } = makeScene(['other']);
  await claims.check('ann', 'claim:phone');
  expect({ removed, settled }).toEqual({ removed: ['phone'], settled: ['claim:phone'] });
});

test.each(['a request here', 'an open stream'])(
  'one that was used by %s is not, where the store forgot that',
  async (by) => {
    const { claims, removed, settled } = makeScene(by === 'an open stream' ? ['phone'] : []);
    if (by === 'a request here') claims.use({ account: 'ann', deviceId: 'phone' });
    await claims.check('ann', 'claim:phone');
    expect(removed).toEqual([]);
    expect(settled.at(-1)).toBe('claim:phone');
  },
);
