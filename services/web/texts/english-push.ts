import { pluralOf } from './plural.ts';

const plural = pluralOf('en');

/** What is said in notifications, which the service worker shows. */
export const englishPush = {
  message: (count: number) => plural(count, { one: 'A new message', other: `${count} new messages` }),
  transfer: (count: number) =>
    plural(count, { one: 'Somebody wants to send you a file', other: `${count} transfers wait for you` }),
  arrived: (count: number) => plural(count, { one: 'A file arrived', other: `${count} files arrived` }),
  device: 'A new device was signed in. Was that you?',
  test: 'Notifications work.',
  unknown: 'There is something new in Baton.',
  stray: 'Nobody is signed in in this browser. Its notifications are off now.',
};
