import { rateLimitHeaders, scaledLimit } from '../../../../shared/service-kit/rate-limit-headers.ts';

test('a group that a module counts has the same headers as one that counts addresses', () => {
  expect(rateLimitHeaders('message', { limit: 120, remaining: 0, resetSeconds: 11.2 })).toEqual({
    RateLimit: '"message"; r=0; t=12',
    'RateLimit-Policy': '"message"; q=120; w=60',
  });
});

test.each([
  [1, 120],
  [0.5, 60],
  [0.001, 1],
  [10, 1_200],
  [0, null],
])('scaled by %d, 120 messages a minute are %s', (scale, limit) => {
  expect(scaledLimit('message', scale)).toBe(limit);
});
