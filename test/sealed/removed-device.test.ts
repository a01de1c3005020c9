import { openClipboard } from '../../shared/client/sealed/content/clipboard.ts';
import { openMessage } from '../../shared/client/sealed/content/messages.ts';
import { openTransfer, sealTransfer } from '../../shared/client/sealed/content/transfers.ts';
import { type Keyring, takeKeys } from '../../shared/client/sealed/keyring.ts';
import { memberOf } from '../../shared/client/sealed/ring/ring.ts';
import type { Device } from '../../shared/client/wire.ts';
import { type Site, startSite } from '../support/site.ts';
import { makeWorld } from './hostile/world.ts';

/* A device that was removed, and then gets everything that the store ever had: it opens what was sealed before that. */

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'opened',
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );

/** An account of three devices with keys, on an honest server. */
async function account() {
  const world = await makeWorld(1, site.one);
  const { ann, bob, mallory, link, admit } = world;
  await ann.sealing.rings.create({ kind: 'cli' });
  await admit(ann, 'keys');
  expect([await link(ann, bob), await link(bob, mallory)]).toEqual([true, true]);
  const current = async ({ sealing }: typeof ann): Promise<Keyring> => {
    const keyring = await sealing.rings.current();
    if (keyring === null) throw new Error('no keys');
    return keyring;
  };
  const listed = async () => (await ann.device.on(site.one).call('listDevices')).body.devices as Device[];
  return { ...world, current, listed };
}

test('it opens nothing that was sealed under a ring without it, with the whole history of the store', async () => {
  const { ann, bob, mallory, server, current, listed } = await account();
  const kept = await current(mallory);
  const say = async (by: typeof ann, text: string): Promise<void> => {
    const [keyring, devices] = [await current(by), await listed()];
    await by.sealing.texts.send(keyring, { to: '*', text, devices });
    await by.sealing.texts.send(keyring, { to: (by === ann ? bob : ann).id, text, devices });
    await by.sealing.texts.setClipboard(keyring, text);
  };
  await say(ann, 'before');
  const before = server.posted.length;
  await ann.sealing.linking.remove([mallory.id]);
  await ann.device.on(site.one).call('removeDevice', { params: { device_id: mallory.id } });
  await say(ann, 'after');
  await say(bob, 'after');
  const files = [{ name: 'secret.txt', type: '', size: 1 }];
  const { sealed: description } = await sealTransfer(await current(bob), { to: ann.id, files, t: Date.now() });

  // The whole history: every ring, every text, and the keys that the device has kept.
  const history = { rings: server.rings, n: server.rings.length, guests: null };
  const { keyring: walked } = await takeKeys(mallory.stores.keys, history, Date.now());
  expect(memberOf(walked.ring, mallory.id)).toBeNull();
  const knowsAll: Keyring = { ...walked, accountKeys: [...kept.accountKeys, ...walked.accountKeys] };
  const open = ({ kind, sealed, from, to }: (typeof server.posted)[0], by: Keyring) =>
    codeOf(
      kind === 'clipboard'
        ? openClipboard(by, { sealed, from, now: Date.now() })
        : openMessage(by, { sealed, from, to }),
    );
  for (const [at, posted] of server.posted.entries()) {
    const said = await open(posted, knowsAll);
    expect([at, said === 'opened']).toEqual([at, at < before]);
    expect([at, await open(posted, await current(bob))]).toEqual([at, 'opened']);
  }
  for (const by of [knowsAll, { ...knowsAll, device_id: ann.id }])
    expect(await codeOf(openTransfer(by, { sealed: description, from: bob.id }))).toBe('cannot_open');
});

// Proves G35.
test('nothing is sealed between the news that a device was removed and the ring without it', async () => {
  const { ann, bob, mallory, server, current, listed } = await account();
  const onBob = site.listen(bob.device, site.two);
  await onBob.next('ready');
  const count = server.posted.length;
  // Somebody who has no keys removes it: a browser, or `curl`.
  await ann.device.on(site.one).call('removeDevice', { params: { device_id: mallory.id } });
  await onBob.next('device:removed', ({ data }) => data.device_id === mallory.id && data.reason === 'removed');
  await bob.sealing.rings.noteRemoved(mallory.id);

  const [keyring, devices] = [await current(bob), await listed()];
  const { texts, files } = bob.sealing;
  const attempts = {
    'to one': texts.send(keyring, { to: ann.id, text: 'x', devices }),
    'to all': texts.send(keyring, { to: '*', text: 'x', devices }),
    'for later': texts.seal(keyring, { to: ann.id, text: 'x' }),
    clipboard: texts.setClipboard(keyring, 'x'),
    files: files.seal(keyring, { to: ann.id, files: [] }),
  };
  for (const [what, attempt] of Object.entries(attempts))
    expect([what, await codeOf(attempt)]).toEqual([what, 'rotation_due']);
  expect(server.posted.length).toBe(count);

  const next = await bob.sealing.linking.remove([mallory.id]);
  expect(memberOf(next.ring, mallory.id)).toBeNull();
  expect(next.ring.body.epoch).toBe(keyring.ring.body.epoch + 1);
  await texts.send(await current(bob), { to: '*', text: 'x', devices });
  expect(server.posted.length).toBe(count + 1);
});
