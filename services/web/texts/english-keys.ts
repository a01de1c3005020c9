import { pluralOf } from './plural.ts';

const plural = pluralOf('en');

/** The texts about keys. They are loaded with the code that seals. */
export const englishKeys = {
  title: 'Encryption',
  off: 'The service can read the messages, files and the clipboard of this account.',
  create: 'Encrypt this account',
  createTitle: 'Encrypt this account?',
  createWhy: (names: string) =>
    `From then on only devices with keys read messages, files and the clipboard. ${
      names === '' ? '' : `These have no keys until you link them: ${names}. `
    }Programs that call the service directly send unencrypted.`,
  created: 'Messages, files and the clipboard are encrypted from now on.',
  noKey: 'This account is encrypted, but this browser has no key. What it sends is not encrypted.',
  get: 'Get the key',
  how: 'On a device that has keys, choose “Add a device” and scan this code, or pass its link to “baton approve”.',
  noneGiven: 'The device that approved this gave no keys. Approve it on a device that has keys.',
  lost: 'The keys of this browser are gone. What it sends waits until you get the key again or go on without it.',
  without: 'Go on without it',
  on: 'Messages, files and the clipboard are encrypted between the devices with keys.',
  onGuest:
    'This browser is a guest. Messages and files to it and from it are encrypted. It has no key of the account, so it cannot use the encrypted clipboard.',
  guest: 'Guest: what is sent to it is encrypted for it alone.',
  trust: 'The service delivers this app, so a web app protects you only as far as you trust the service.',
  noKeys: 'No key. Choose “Get the key” in its settings, or sign it in again, and approve it here.',
  gone: 'No longer signed in',
  words: 'Recovery words',
  recovery: {
    none: 'There are no recovery words. If every device with keys is lost, nobody can open what they have encrypted.',
    exist: (when: string) => `Recovery words exist since ${when}.`,
    existUndated: 'Recovery words exist.',
    due: 'They are due for renewal. Without it they will soon be worth nothing.',
    make: 'Make recovery words',
    makeNew: 'Make new recovery words',
    renew: 'Renew recovery words',
    use: 'Use recovery words',
    what: 'Recovery words are 24 words that you keep on paper. If every device with keys is lost, they give the key of the account to a browser that is signed in to it.',
    givesAway:
      'Whoever has the words can open messages and clipboards that were recorded since the words were made. Whoever can also sign in to your account reads what your devices read. Keep the words where nobody else finds them.',
    once: 'The words are shown once and stored nowhere. They count only after the last step.',
    replaces:
      'New words replace the existing ones and the key of the account. The existing words are worth nothing after that.',
    list: 'Your 24 recovery words',
    writeDown: 'Write them down in this order.',
    copyRisk: 'Other programs on this device can read what you copy, so paper is safer.',
    print: 'Print',
    written: 'I have written them down',
    check: 'Type two of the words, to be sure that your list is right.',
    word: (n: number) => `Word ${n}`,
    wrong: (n: number) => `Word ${n} is not right. Look at your list.`,
    showAgain: 'Show the words again',
    finish: 'Finish',
    made: 'The recovery words count from now on.',
    failed: 'The recovery words do not count yet.',
    field: 'The 24 words',
    typing: 'Type or paste the words in their order. Numbers, spaces and capital letters do not matter.',
    useWhy: 'With the recovery words this browser gets the key of the account.',
    renewWhy:
      'The devices with keys have changed often since these words were made. Type the words, so that they go on counting. They stay the same.',
    count: (n: number) =>
      plural(n, { one: 'This is 1 word. 24 are needed.', other: `These are ${n} words. 24 are needed.` }),
    unknown: (n: number, word: string) => `Word ${n}, ${word}, is no recovery word.`,
    checksum: 'These words do not belong together. One is wrong, or two have changed places.',
    got: 'This browser has the key of the account.',
    renewed: 'The recovery words go on counting.',
  },
  replace: 'Replace the key',
  replaceTitle: 'Replace the key of the account?',
  replaceWhy: 'Devices that are no longer signed in cannot read what is sent from now on.',
  replaced: 'The key of the account was replaced.',
  again: 'Try again',
  keepsPlace:
    'A device that is no longer signed in keeps its key for 90 days, in case it comes back. If you have lost it, replace the key now.',
  disagreeing:
    'These devices know other keys of the account. If one of them is lost or stolen, sign it out. Otherwise get the key again from a device that you trust.',
  writesLost: 'The keys of this browser are gone. What you write waits.',
  makeAnew: 'Make new keys',
  makeAnewTitle: 'Make new keys for this account?',
  startAnew: 'Remove all keys',
  startAnewTitle: 'Remove all keys of this account?',
  startAnewWhy: (names: string) =>
    `This browser makes a new key. ${
      names === '' ? '' : `These lose their keys until you link them again: ${names}. `
    }Encrypted messages and files that still wait cannot be opened any more.`,
  startAnewLater:
    'Do this only if no device with keys is left. All devices are told. The keys are removed in 24 hours, unless a device with keys cancels this. Encrypted messages and files that still wait cannot be opened any more.',
  announced: (when: string) =>
    `All keys of this account will be removed on ${when}. A device without keys asked for this.`,
  announcedErase: (when: string) => `This account will be erased on ${when}. A device without keys asked for this.`,
  keep: 'Cancel removal',
  kept: 'Nothing is removed.',
  firstByItself: 'This encrypts the account: both devices have keys then, and there is no other one.',
  protection: {
    title: 'What is protected, and what is not',
    isProtected: 'Protected',
    protectedList: [
      'Only the devices with keys read messages, files and the clipboard. Nobody else reads them: not in the database, memory, files, backups and logs of the service, and not on the network.',
      'Nobody else can write in the name of one of your devices. What is not encrypted is marked.',
      'A device that you remove cannot read what is sent after that.',
    ],
    isNot: 'Not protected',
    notList: [
      'The service sees the names and types of devices, who sends to whom and when, roughly how long a text is, how many files there are and how large they are, and addresses.',
      'The service can delay or lose what you send.',
      'Whoever takes the keys of a device can open what was recorded since that device has had them.',
      'If you let in somebody else’s device as your own, it reads what yours read. Look at the name and the address, and compare the digits.',
      'A quantum computer of the future could open what is recorded today.',
    ],
    web: 'The service delivers this app. A service that lies could deliver another one, so a web app protects you only as far as you trust the service. The command line does not have that limit.',
  },
  compare: 'Are the digits the same?',
  compareWhy: (name: string) => `${name} gave this browser the key of the account, and shows four digits.`,
  compareWhyGuest: (name: string) => `${name} let this browser in as a guest, and shows four digits.`,
  same: (name: string) => `${name} shows these`,
  differ: 'They differ',
  differNew: 'They differ: sign out',
  otherDevice: 'The other device',
  sealed: 'Encrypted',
  open: 'Not encrypted: the service could have written this',
  openMine: 'Not encrypted: the service can read this',
  openThread: 'Not encrypted',
  sendOpen: 'Send unencrypted',
  gives: 'It gets the key of this account. It can read what is encrypted from now on, and what waits now.',
  givesGuest:
    'It gets no key of this account. It can read only the messages and files that are sent to it, and they are encrypted for it alone. It can read the clipboard only when that is not encrypted.',
  takesPlace: (name: string, fingerprint: string) =>
    `It takes the place of ${name} (${fingerprint}), whose keys then open nothing more. Let it in only if you hold ${name}, and it asks for its keys again.`,
  givesNone: 'It gets no key. What it sends and receives is not encrypted.',
  checkCode: (code: string) => `Check code ${code}. The new device shows the same digits.`,
  failed: 'The keys did not change.',
  /** Beside each message that waits, by the code of the reason. */
  waiting: {
    unkeyed: 'Waits until you have compared the digits.',
    keys_lost: 'Waits: the keys of this browser are gone. The settings say what to do.',
    keys_gone: 'Waits: the service has no keys of this account any more.',
    rotation_due: 'Waits until the key of the account is replaced.',
    ring_moved: 'Waits: the devices with keys are changing.',
    unknown_key: 'Waits for the new key of the account.',
    devices_disagree: 'Waits: your devices disagree about who has keys. Get the key again in the settings.',
    link_again: 'Waits: this browser was away for too long. Get the key again in the settings.',
    bad_ring: 'Waits: the service shows a list of devices that nobody in this account has signed.',
    bad_guests: 'Waits: the service shows a list of guests that nobody in this account has signed.',
  },
  /** What is said of a failure, by the code of its error. */
  errors: {
    unkeyed: 'Compare the digits first.',
    keys_lost: 'The keys of this browser are gone. Get the key again in the settings.',
    keys_gone: 'The service has no keys of this account any more.',
    keys_exist: 'The account is encrypted already. Get the key from a device that has it.',
    keys_unusable: 'This browser cannot keep keys. Use another window or browser.',
    keys_not_supported: 'This service does not support encryption.',
    not_lasting: 'Only your own device that stays signed in can make keys.',
    rotation_due: 'Replace the key of the account in the settings first.',
    ring_moved: 'Another device changed the keys at the same time. Try again.',
    replaces_keys:
      'This device would take the place of another one with keys. Open the request again to see which one.',
    ring_full: 'The account has as many devices with keys as it can have. Sign one out first.',
    guest_clipboard: 'Guests cannot use the encrypted clipboard.',
    unkeyed_receiver: 'The other device has no key, so the service could read this.',
    other_keys: 'The keys of the device are not those in its code. Do not let it in.',
    bad_code: 'This code is not complete. Scan it again.',
    devices_disagree: 'Your devices disagree about who has keys. Get the key again in the settings.',
    link_again: 'This browser was away for too long. Get the key again in the settings.',
    unknown_key: 'This browser does not have the newest key yet. Try again in a moment.',
    record_damaged:
      'A part of the files was changed on the way, or while it was sent. Nothing of it is kept. Send them again.',
    wrong_signer: 'These files do not come from the device that they name. They were refused.',
    not_a_member: 'The device that sent these files does not belong to the account. They were refused.',
    sent_before: 'Somebody sent these files again on the way. They were refused.',
    key_retired: 'These files were encrypted too long ago. Have them sent again.',
    newer_version: 'A newer version of Baton encrypted this. Reload the page.',
    bad_words: 'These are not the recovery words of this account.',
    words_over: 'These recovery words were not renewed in time. They open nothing any more.',
    words_moved: 'Other recovery words were made meanwhile. The words that were shown here do not count.',
    bad_ring:
      'The service shows keys that nobody in this account has confirmed. They are not used, and nothing was changed.',
    bad_guests:
      'The service shows a list of guests that nobody in this account has signed. It is not used, and nothing is sent.',
  },
};

type Widened<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...args: infer A) => string
      ? (...args: A) => string
      : T[K] extends readonly string[]
        ? readonly string[]
        : Widened<T[K]>;
};

export type KeyTexts = Widened<typeof englishKeys>;
