import { Laptop, AppWindow, Monitor, RadioTower, Smartphone, SquareTerminal, Tablet } from 'lucide';
import { pictureOf, tintOf } from '../../../services/web/view/devices/device-pictures.ts';

const browser = (name: string) => ({ type: 'browser', kind: 'device' as const, name });

test.each([
  ['Pixel 8', Smartphone],
  ['iPhone', Smartphone],
  ['SM-G960F', Smartphone],
  ['Chrome on Android', Smartphone],
  ['Safari on iOS', Smartphone],
  ['Mein Handy', Smartphone],
  ['iPad', Tablet],
  ['Kitchen tablet', Tablet],
  ['Galaxy Tab S9', Tablet],
  ['Work laptop', Laptop],
  ['Safari on Mac', Laptop],
  ['Safari on macOS', Laptop],
  ['Chrome on Chromebook', Laptop],
  ['Home desktop', Monitor],
  ['Edge on Windows', Monitor],
  ['Firefox on Linux', Monitor],
  ['Kathes', AppWindow],
  ['Stable machine', AppWindow],
])('a browser with the name "%s" has a picture of what it runs on', (name, picture) => {
  expect(pictureOf(browser(name))).toBe(picture);
});

test('the picture of an app is that of its type, but for a tablet, and a session without a device has its own', () => {
  expect(pictureOf({ ...browser('Phone server'), type: 'linux' })).toBe(SquareTerminal);
  expect(pictureOf({ ...browser('Kitchen tablet'), type: 'ios' })).toBe(Tablet);
  expect(pictureOf({ ...browser('Work laptop'), type: 'ios' })).toBe(Smartphone);
  expect(pictureOf({ ...browser('Pixel 8'), kind: 'live' })).toBe(RadioTower);
  expect([tintOf(browser('Pixel 8')), tintOf(browser('Kathes'))]).toEqual(['tint-ios', 'tint-browser']);
  expect(tintOf({ ...browser('Pixel 8'), kind: 'past' })).toBe('');
});
