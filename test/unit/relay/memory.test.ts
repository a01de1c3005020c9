import { freeMemory } from '../../../services/sync/relay/upload/memory.ts';

test('memory that is one part alone is free at once, where Node can', () => {
  const part = Buffer.alloc(64 * 1024, 'baton');
  freeMemory(part);
  expect(part.length).toBe('transfer' in ArrayBuffer.prototype ? 0 : 64 * 1024);
});

test('memory that others share stays', () => {
  const whole = Buffer.alloc(64 * 1024, 'baton');
  freeMemory(whole.subarray(0, 32 * 1024));
  expect(whole.toString('latin1', 0, 5)).toBe('baton');
});
