import { presenceView, stateReader, rowsOf } from '../../../services/sync/presence/presence-view.ts';

const row = (name: string, createdAtMs: number) => `${name}\nlinux\n${createdAtMs}\n\n0`;
const entries = (devices: string[], states: string[]) =>
  presenceView({ devices, states }).devices.map(({ device_id: id, name, online }) => [id, name, online]);

test('a stream without a device is one with the row whose name looks the same', () => {
  expect(entries(['laptop-1', row('Laptop', 1)], ['~laptop', '1500', 'v', '7'])).toEqual([
    ['laptop-1', 'Laptop', true],
  ]);
});

test('of rows whose names look the same each has its own entry, and a stream is that of its exact name', () => {
  const devices = ['laptop-1', row('Laptop', 1), 'laptop-2', row('laptop', 2)];
  expect(entries(devices, ['~laptop', '1500'])).toEqual([
    ['laptop-1', 'Laptop', false],
    ['laptop-2', 'laptop', true],
  ]);
  const isOnline = stateReader({ devices, states: ['~laptop', '1500'] });
  expect(rowsOf(devices).map((each) => isOnline(each).online)).toEqual([false, true]);
});

test('streams without a device whose names look the same are one entry', () => {
  expect(entries([], ['~Kitchen', '1500', '~kitchen', '1600', '~Living  room', '1700'])).toEqual([
    [null, 'Kitchen', true],
    [null, 'Living  room', true],
  ]);
});
