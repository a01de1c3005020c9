import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blobSource, type BatonClient, makeBatonClient } from '../../shared/client/index.ts';
import { fileSession, sealingFiles, sha256 } from '../../shared/client/node.ts';
import { makeSealing } from '../../shared/client/sealing.ts';
import type { PeerModule, PeerSendingParts } from '../../shared/client/transfers/peer-module.ts';
import type { IncomingTransfer, PeerToPeer } from '../../shared/client/api.ts';
import { startWatchedSite, type WatchedSite } from '../support/sealed/watched-site.ts';
import { findWords, rareWord, wordsOfSecret } from '../support/sealed/word-search.ts';
import { isInstalled } from '../edge/edges.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { approve, devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { plantCarelessly, type Secrets, secretOf } from './planted-keys.ts';
import { makeTerminals, type Terminal } from './terminal.ts';

/*
 * Words that occur nowhere by chance are in every kind of content, of the command line and of the library. The test searches
 * everything that an installation writes down for them. The same search finds each word when the devices have no keys.
 */

let site: WatchedSite;
let terminals: ReturnType<typeof makeTerminals>;

const KINDS = [
  ...['cliMessage', 'cliToAll', 'cliClipboard', 'cliFolder', 'cliFile', 'cliBytes', 'cliPipedName', 'cliPiped'],
  ...['guestMessage', 'guestFile', 'guestBytes', 'guestBack'],
  ...['libMessage', 'libToAll', 'libClipboard', 'libFile', 'libType', 'libBytes', 'libOffer', 'libAnswer', 'preview'],
] as const;
type Words = Record<(typeof KINDS)[number], string>;
const makeWords = (): Words => Object.fromEntries(KINDS.map((kind) => [kind, rareWord(kind.toLowerCase())])) as Words;

/** Makes a path from device to device that sends one signal, and leaves the bytes to the relay. */
function speaking(offer: string, answer: string): PeerToPeer {
  const side = { isOpen: false, there() {}, nudge() {}, stored() {}, take() {} };
  const say = ({ caller, run }: Pick<PeerSendingParts, 'caller' | 'run'>, to: string, kind: string, sdp: string) =>
    caller.call('sendSignal', {
      body: { to_device_id: to, transfer_id: run.id, kind: kind as 'offer', payload: { type: kind, sdp } },
    });
  const made: PeerModule = {
    kind: 'peer-to-peer',
    sending: (parts) => ({
      ...side,
      begin: () =>
        void say(parts, parts.run.transfer.receiver.device_id, 'offer', offer).then(() => parts.relay.begin()),
    }),
    receiving: (parts) => ({
      ...side,
      begin: () => void say(parts, parts.run.transfer.sender.device_id, 'answer', answer),
      fetch: () => Promise.reject(new Error('no path')),
    }),
  };
  return made;
}

/** Makes a client of the library that is the device of a terminal. */
function libraryOf({ config }: Terminal, words: Words, isKeyed: boolean) {
  const [baseUrl, session] = [site.url, fileSession(join(config, 'session.json'))];
  const sealing = makeSealing({ baseUrl, session, sha256, ...sealingFiles(config) });
  const peers = speaking(`v=0 ${words.libOffer}`, `v=0 ${words.libAnswer}`);
  const peerToPeer = isKeyed ? sealing.files.sealSignals(peers) : peers;
  return { sealing, baton: makeBatonClient({ baseUrl, session, sha256, peerToPeer }) };
}

const keyringOf = async ({ sealing }: ReturnType<typeof libraryOf>) => {
  const keyring = await sealing.rings.current();
  if (keyring === null) throw new Error('no keys');
  return keyring;
};

/** Leaves texts and files with the command line, for a phone that is away. */
async function plantWithProgram(laptop: Terminal, words: Words): Promise<void> {
  await laptop.ok(['message', 'Phone', words.cliMessage]);
  await laptop.ok(['message', '*', words.cliToAll]);
  await laptop.ok(['copy'], { input: words.cliClipboard });
  mkdirSync(join(laptop.folder, words.cliFolder));
  writeFileSync(join(laptop.folder, words.cliFolder, words.cliFile), words.cliBytes);
  await laptop.ok(['send', words.cliFolder, '--to', 'Phone', '--leave']);
  await laptop.ok(['send', '-', '--to', 'Phone', '--leave', '--name', words.cliPipedName], { input: words.cliPiped });
}

/** Leaves a text and a file for a device that is here for an hour, and a text of that device for the phone. */
async function plantForGuest(laptop: Terminal, guest: Terminal, words: Words): Promise<void> {
  await laptop.ok(['message', 'Visitor', words.guestMessage]);
  mkdirSync(join(laptop.folder, 'guest'));
  writeFileSync(join(laptop.folder, 'guest', words.guestFile), words.guestBytes);
  await laptop.ok(['send', 'guest', '--to', 'Visitor', '--leave']);
  await guest.ok(['message', 'Phone', words.guestBack]);
}

/** Signs in a device for an hour. */
async function visitorOf(laptop: Terminal): Promise<Terminal> {
  const visitor = terminals.terminal();
  await approve(laptop, visitor.run(['login', site.url, '--name', 'Visitor']), '--once');
  return visitor;
}

/** Subscribes a device to pushes with a preview of the text. */
async function subscribe({ baton }: { baton: BatonClient }, config: Terminal): Promise<void> {
  const { vapid_public_key: key } = await baton.push.config();
  const { endpoint, keys } = site.push.subscribe(key ?? undefined);
  await baton.push.subscribe({ endpoint, keys, preview: 'full' });
  await baton.push.registerNative({ platform: 'fcm', token: `token:${config.folder.slice(-6)}` });
}

async function plantTexts(robot: ReturnType<typeof libraryOf>, words: Words, isKeyed: boolean): Promise<void> {
  const { baton, sealing } = robot;
  const devices = await baton.devices.list();
  const phone = devices.find(({ name }) => name === 'Phone')?.device_id ?? '';
  const keyring = isKeyed ? await keyringOf(robot) : null;
  for (const [name, to, text] of [
    ['Phone', phone, words.libMessage],
    ['*', '*', words.libToAll],
    ['Phone', phone, words.preview],
  ] as const) {
    const pushed = site.push.pushes.length;
    if (keyring === null) await baton.messages.send(name, text);
    else await sealing.texts.send(keyring, { to, text, devices });
    // Texts that wait together for their push become one push, without any of their words.
    await site.push.received(pushed + 1);
  }
  if (keyring === null) await baton.clipboard.set(words.libClipboard);
  else await sealing.texts.setClipboard(keyring, words.libClipboard);
}

/** Sends a file while both are there, with signals in both directions. Returns what the receiver got. */
async function plantFile(
  robot: ReturnType<typeof libraryOf>,
  phone: ReturnType<typeof libraryOf>,
  words: Words,
  isKeyed: boolean,
) {
  const offered = new Promise<IncomingTransfer>((resolve) => {
    phone.baton.on('incoming', (offer) => void (offer.transfer.sender.name === 'Robot' && resolve(offer)));
  });
  phone.baton.start();
  robot.baton.start();
  await Promise.all([phone.baton.untilOnline(), robot.baton.untilOnline()]);
  const file = blobSource(new Blob([words.libBytes], { type: `text/x-${words.libType}` }), words.libFile);
  const devices = await robot.baton.devices.list();
  const to = devices.find(({ name }) => name === 'Phone')?.device_id ?? '';
  const sending = isKeyed
    ? await robot.sealing.files.send(
        robot.baton.transfers,
        await robot.sealing.files.seal(await keyringOf(robot), { to, files: [file] }),
        [file],
      )
    : await robot.baton.transfers.send({ device_id: to }, [file]);
  const offer = await offered;
  const received = await phone.sealing.files.open(
    phone.baton.transfers,
    isKeyed ? await keyringOf(phone) : null,
    offer,
  );
  if (received.kind !== 'opened' && received.kind !== 'plain') throw received.problem;
  let text = '';
  const names: string[] = [];
  const receiving = received.offer.accept(({ name, type }) => {
    names.push(name, type ?? '');
    return { write: (chunk) => void (text += Buffer.from(chunk).toString()), close() {} };
  });
  await Promise.all([sending.done, receiving.done]);
  await Promise.all([phone.baton.close(), robot.baton.close()]);
  return [...names, text];
}

async function plant([laptop, phone, robot, visitor]: readonly Terminal[], isKeyed: boolean): Promise<Words> {
  const words = makeWords();
  const [here, there] = [libraryOf(robot as Terminal, words, isKeyed), libraryOf(phone as Terminal, words, isKeyed)];
  await subscribe(there, phone as Terminal);
  await plantTexts(here, words, isKeyed);
  await plantWithProgram(laptop as Terminal, words);
  await plantForGuest(laptop as Terminal, visitor as Terminal, words);
  expect(await plantFile(here, there, words, isKeyed)).toEqual([
    words.libFile,
    `text/x-${words.libType}`,
    words.libBytes,
  ]);
  return words;
}

/** Lets a device in and removes it, so that the key of the account is replaced. Returns the secrets. */
async function replaceKey(laptop: Terminal): Promise<Secrets> {
  const library = libraryOf(laptop, makeWords(), true);
  const [, , link] = await approve(laptop, terminals.terminal().run(['login', site.url, '--name', 'Spare']));
  await laptop.ok(['remove', 'Spare']);
  const [now, before] = (await keyringOf(library)).accountKeys;
  if (now === undefined || before === undefined) throw new Error('The key was not replaced');
  return { accountKey: now.key, olderKey: before.key, linkSecret: secretOf(link) };
}

/** Returns where each secret is found, in any form. */
const findSecrets = (secrets: Secrets, places: Parameters<typeof findWords>[1]): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(secrets).map(([kind, bytes]) => [
      kind,
      Object.values(findWords(wordsOfSecret(kind, bytes), places)).flat(),
    ]),
  );

skipUnless(isInstalled('nginx'), 'needs nginx').describe('what passes through', () => {
  beforeAll(async () => {
    site = await startWatchedSite();
    terminals = makeTerminals({ door: site, logIn: () => site.logIn() });
  });
  afterAll(async () => {
    terminals.stop();
    await site.stop();
  });

  test('is found word by word in what an installation keeps, where the devices have no keys', async () => {
    const devices = await terminals.devices('Laptop', 'Phone', 'Robot');
    const words = await plant([...devices, await visitorOf(devices[0] as Terminal)], false);
    const secrets = await plantCarelessly(terminals);
    const written = await site.places();
    const found = findWords(words, written);
    const missed = Object.entries({ ...found, ...findSecrets(secrets, written) }).filter(
      ([, places]) => places.length === 0,
    );
    expect(missed).toEqual([]);
    const places = Object.values(found).flat();
    for (const where of [/^Redis /, /^DUMP /, /appendonly.*\.aof/, /\.rdb/, /^web pushes/, /client_body/])
      expect([where, places.some((place) => where.test(place))]).toEqual([where, true]);
  });

  test('is found nowhere where the devices have keys, and arrives', async () => {
    const devices = await devicesWithKeys(terminals, ['Laptop', 'Phone', 'Robot']);
    const visitor = await visitorOf(devices[0] as Terminal);
    const secrets = await replaceKey(devices[0] as Terminal);
    const words = await plant([...devices, visitor], true);
    const written = await site.places();
    const found = { ...findWords(words, written), ...findSecrets(secrets, written) };
    expect(found).toEqual(Object.fromEntries([...KINDS, ...Object.keys(secrets)].map((kind) => [kind, []])));

    const [, phone] = devices as [Terminal, Terminal];
    const texts = (await jsonOf(phone, 'inbox')).map(({ content }) => content);
    expect(texts).toEqual([
      words.libMessage,
      words.libToAll,
      words.preview,
      words.cliMessage,
      words.cliToAll,
      words.guestBack,
    ]);
    expect((await jsonOf(visitor, 'inbox')).map(({ content }) => content)).toContain(words.guestMessage);
    expect(await jsonOf(phone, 'paste')).toMatchObject([{ content: words.cliClipboard, sealed: true }]);
    for (let left = 2; left > 0; left -= 1) await phone.ok(['receive', '--yes', '--once', '--dir', 'in']);
    expect(readFileSync(join(phone.folder, 'in', words.cliFolder, words.cliFile), 'utf8')).toBe(words.cliBytes);
    expect(readFileSync(join(phone.folder, 'in', words.cliPipedName), 'utf8')).toBe(words.cliPiped);
  });
});
