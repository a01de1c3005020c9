import { pluralOf } from './plural.ts';

const plural = pluralOf('en');

/** What is said in the settings. */
export const englishSettings = {
  settings: {
    title: 'Settings',
    thisDevice: 'This device',
    rename: 'Rename',
    notifications: 'Notifications',
    pushOff: 'Tell me of messages and files while Baton is closed or in the background.',
    pushOn: 'Notifications are on.',
    pushWaiting: 'Waiting for this browser and its push service …',
    pushDenied: 'This browser blocks notifications from Baton. Allow them in its settings.',
    pushAsks: 'Notifications are off. This browser must ask you again whether Baton may show them.',
    pushBroken: 'Notifications have stopped, and Baton could not turn them on again.',
    pushUnknown: 'Baton cannot find out now whether notifications are on.',
    pushImpossible: 'Not possible in this browser, or at this address.',
    pushDisabled: 'Not set up at this service.',
    turnOn: 'Turn on',
    turnOff: 'Turn off',
    test: 'Send a test',
    tested: 'A test notification is on its way.',
    preview: 'Show in notifications',
    previewNone: 'Only that something arrived',
    previewSender: 'Who sent it',
    previewFull: 'Who sent it, and the text',
    language: 'Language',
    theme: 'Appearance',
    themes: { system: 'Same as this device', light: 'Light', dark: 'Dark' },
    sessions: 'Signed-in devices',
    stale: 'The sign-in service cannot be reached now. This list may be old.',
    active: (when: string) => `Active ${when}`,
    current: 'This device',
    remove: 'Sign out',
    removeTitle: (name: string) => `Sign out ${name}?`,
    removeWhy: 'It loses access at once. What waits for it is deleted.',
    others: 'Sign out all others',
    othersTitle: 'Sign out all other devices?',
    othersWhy: 'Every device but this one loses access at once.',
    othersDone: (count: number) =>
      plural(count, { one: '1 device was signed out.', other: `${count} devices were signed out.` }),
    signOut: 'Sign out',
    signOutTitle: 'Sign out here?',
    signOutWhy: (waiting: number) =>
      `The history and files that were not saved are deleted in this browser.${
        waiting === 0
          ? ''
          : ` ${plural(waiting, { one: '1 item that still waits', other: `${waiting} items that still wait` })} will not be sent.`
      }`,
    erase: 'Erase my data',
    eraseTitle: 'Erase everything?',
    eraseWhy:
      'Messages that wait, the clipboard, transfers and devices are removed from the service. This cannot be undone.',
    erased: 'Everything was removed.',
    account: 'Account',
    signedInAs: (name: string) => `Signed in as ${name}`,
    about: 'For programs',
    insecure:
      'This address is not https. Messages and the clipboard work; files cannot be received, and there are no notifications.',
    api: 'API reference',
  },
};
