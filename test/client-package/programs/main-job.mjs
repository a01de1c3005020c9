import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { makeBatonClient, memorySession, requestSignIn } from '@baton/client';
import { fileSession, fileSource, folderSink, sha256 } from '@baton/client/node';

/*
 * Two devices of one account, as an outside developer writes them: one lets the other in, and they exchange messages and a
 * file.
 */

const urls = process.env.URLS.split(' ');
const say = (said, more = {}) => process.stdout.write(`${JSON.stringify({ said, ...more })}\n`);
let turn = 0;
const baseUrl = () => urls[turn % urls.length];
/** If one replica does not answer, the next request goes to the other one: in front of a service a balancer does that. */
const balanced = (url, init) =>
  fetch(url, init).catch((error) => {
    if (!init.signal?.aborted) turn += 1;
    throw error;
  });

async function digestOf(path) {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest('hex');
}

const laptop = makeBatonClient({ baseUrl, fetch: balanced, session: fileSession(process.env.SESSION), sha256 });
laptop.on('problem', (problem) => process.stderr.write(`laptop: ${problem.stack}\n`));
laptop.start();
await laptop.untilOnline();

const session = memorySession();
const request = await requestSignIn({ baseUrl, deviceName: 'Phone', deviceType: 'ios', session });
const asked = await laptop.signIns.look(request.link);
await Promise.all([request.approved(), laptop.signIns.approve(request.link, { scope: 'full', persist: 'persist' })]);
say('signed in', { asked: asked.device_name, device: session.load().device.name });

const phone = makeBatonClient({
  baseUrl: urls[1] === undefined ? baseUrl : () => urls[(turn + 1) % urls.length],
  fetch: balanced,
  session,
  sha256,
});
phone.on('problem', (problem) => process.stderr.write(`phone: ${problem.stack}\n`));
const messages = [];
const delivered = new Promise((resolve) => laptop.on('delivered', resolve));
phone.messages.receive(({ content }) => void messages.push(content));
phone.start();
await phone.untilOnline();
const { message_id: messageId } = await laptop.messages.send('Phone', 'hello');
say('delivered', { messages, isIt: (await delivered).message_ids.includes(messageId) });

const changed = new Promise((resolve) => phone.on('clipboard', resolve));
await laptop.clipboard.set('copied');
say('copied', { bytes: (await changed).bytes, content: (await phone.clipboard.get()).content });

const stored = new Promise((resolve, reject) => {
  phone.on('incoming', (offer) => {
    const receiving = offer.accept(folderSink(process.env.INTO, (_, path) => resolve(path)));
    let isHalf = false;
    receiving.onProgress(({ bytes, totalBytes }) => {
      if (isHalf || bytes < totalBytes / 2) return;
      isHalf = true;
      say('half');
    });
    receiving.done.catch(reject);
  });
});
const sending = await laptop.transfers.send({ device_id: session.load().device.device_id }, [
  await fileSource(process.env.FILE),
]);
let told = 0;
sending.onProgress(() => {
  told += 1;
});
const startedAt = performance.now();
const transfer = await sending.done;
const path = await stored;
const ms = performance.now() - startedAt;
say('stored', {
  ...{ state: transfer.state, path, told, ms, progress: sending.progress },
  isEqual: (await digestOf(path)) === (await digestOf(process.env.FILE)),
  rss: process.resourceUsage().maxRSS,
});

const signedOut = new Promise((resolve) => phone.on('signed-out', resolve));
const patiently = (work) => work().catch((error) => (error.action === 'retry' ? work() : Promise.reject(error)));
await patiently(() => laptop.devices.remove(session.load().device.device_id));
const reason = await signedOut;
const { code, action } = await phone.me().catch((error) => error);
say('revoked', { reason, code, action, kept: session.load() });
await Promise.all([laptop.close(), phone.close()]);
