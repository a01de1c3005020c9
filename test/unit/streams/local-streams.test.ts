import { LocalStreams } from '../../../services/sync/streams/local-streams.ts';
import type { Stream } from '../../../services/sync/streams/stream/stream.ts';

const stream = (id: string): Stream => ({ id, account: 'ann' }) as Stream;

test('a stream that has closed keeps its row, and so its grace, until the store knows of its end', () => {
  const streams = new LocalStreams();
  const [phone, laptop] = [stream('phone'), stream('laptop')];
  streams.add(phone);
  streams.add(laptop);
  streams.remove(phone);
  expect(streams.idsOf('ann').sort()).toEqual(['laptop', 'phone']);
  streams.remove(laptop);
  expect(streams.find('ann')).toBeUndefined();
  expect(streams.idsOf('ann').sort()).toEqual(['laptop', 'phone']);
  expect(streams.isLeaving('ann')).toBe(true);

  streams.forget(phone);
  expect(streams.idsOf('ann')).toEqual(['laptop']);
  streams.forget(laptop);
  expect(streams.idsOf('ann')).toEqual([]);
  expect(streams.isLeaving('ann')).toBe(false);
});
