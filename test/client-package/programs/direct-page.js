import { blobSource, makeBatonClient } from '@baton/client';
import { peerToPeer } from '@baton/client/peer-to-peer';

/* A page that sends and takes files from device to device; driven by the test, which also breaks what it can. */
const peers = [];
const Plain = globalThis.RTCPeerConnection;
const plainSend = RTCDataChannel.prototype.send;
let patchedBytes = 0;
/** What the test puts in the place of a message: (data, count) => data, or several. */
globalThis.alter = null;
let messages = 0;
/** Frames that the test has added: all later ones have higher numbers. */
let added = 0;

/** A frame: kind (0: a word, 1: bytes, 2: a signal), number, count of frames that came, content. */
function frameOf(like, data, number) {
  const content = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  const frame = new Uint8Array(9 + content.length);
  frame.set(like.subarray(0, 9));
  if (like[0] < 2) frame[0] = typeof data === 'string' ? 0 : 1;
  new DataView(frame.buffer).setUint32(1, number);
  frame.set(content, 9);
  return frame;
}

function altered(frame) {
  const content = frame.subarray(9);
  const data = frame[0] === 0 ? new TextDecoder().decode(content) : content;
  const made = [frame[0] === 2 ? data : globalThis.alter(data, messages++)].flat();
  const number = new DataView(frame.buffer, frame.byteOffset).getUint32(1) + added;
  added += made.length - 1;
  return made.map((one, index) => frameOf(frame, one, number + index));
}

RTCDataChannel.prototype.send = function send(data) {
  for (const one of globalThis.alter === null ? [data] : altered(data)) plainSend.call(this, one);
};

/** A piece that a busy relay refuses is sent again, and not counted. */
const counted = async (url, init) => {
  const answer = await fetch(url, init);
  if (init?.method === 'PATCH' && answer.ok) patchedBytes += init.body.length;
  return answer;
};

const digestOf = async (blob) => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
};

function randomBlob(bytes) {
  const parts = [];
  const block = 4 * 1024 * 1024;
  for (let at = 0; at < bytes; at += block) {
    const part = new Uint8Array(Math.min(block, bytes - at));
    for (let i = 0; i < part.length; i += 65_536) crypto.getRandomValues(part.subarray(i, i + 65_536));
    parts.push(part);
  }
  return new Blob(parts);
}

/** What the test wants to know of a transfer, when it is over. */
async function outcomeOf(running, startedAt, sha256) {
  const paths = [];
  running.onProgress(({ path }) => {
    if (path !== null && paths.at(-1) !== path) paths.push(path);
  });
  const settled = await running.done.catch(({ code }) => ({ state: code }));
  const ms = performance.now() - startedAt;
  return { state: settled.state, mode: settled.mode, paths, ms, patchedBytes, sha256: await sha256() };
}

const root = () => navigator.storage.getDirectory();

/** A file of the private file system, written as it comes. */
async function sinkFor(name, { slowMs }) {
  const handle = await (await root()).getFileHandle(name, { create: true });
  const writable = await handle.createWritable();
  return {
    async write(chunk) {
      await writable.write(chunk);
      if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
    },
    close: () => writable.close(),
    abort: () => writable.abort(),
  };
}

globalThis.join = async (headers, { direct = true, holdMs = 0, iceTransportPolicy = 'all' } = {}) => {
  globalThis.RTCPeerConnection = class extends Plain {
    constructor(configuration) {
      super(configuration);
      peers.push(this);
    }
    async setLocalDescription(...given) {
      if (holdMs > 0) await new Promise((resolve) => setTimeout(resolve, holdMs));
      return super.setLocalDescription(...given);
    }
  };
  const more = direct ? { peerToPeer: peerToPeer({ iceTransportPolicy }) } : {};
  const baton = makeBatonClient({ baseUrl: '', headers, fetch: counted, ...more });
  const offers = [];
  let hand = null;
  baton.on('incoming', (offer) => {
    offers.push(offer);
    hand?.();
  });
  baton.on('problem', ({ message }) => console.info(`problem: ${message}`));
  baton.start();
  await baton.untilOnline();
  let current = null;
  globalThis.device = {
    async send(to, sizes) {
      const blobs = sizes.map(randomBlob);
      const sha256 = await Promise.all(blobs.map(digestOf));
      // Kept, so that another page of the same device can go on.
      if (sizes.length === 1) {
        const handle = await (await root()).getFileHandle('source.bin', { create: true });
        const writable = await handle.createWritable();
        await writable.write(blobs[0]);
        await writable.close();
      }
      const sources = blobs.map((blob, i) => ({ ...blobSource(blob, `${i}.bin`), sha256: sha256[i] }));
      const startedAt = performance.now();
      current = await baton.transfers.send(to, sources);
      return outcomeOf(current, startedAt, async () => sha256);
    },
    async resume(id) {
      const file = await (await (await root()).getFileHandle('source.bin')).getFile();
      const sha256 = [await digestOf(file)];
      current = await baton.transfers.resume(id, [{ ...blobSource(file, '0.bin'), sha256: sha256[0] }]);
      return outcomeOf(current, performance.now(), async () => sha256);
    },
    async receive({ slowMs = 0, direct: wants = true } = {}) {
      if (offers.length === 0) await new Promise((resolve) => (hand = resolve));
      const offer = offers.shift();
      const startedAt = performance.now();
      current = offer.accept((file) => sinkFor(file.name, { slowMs }), { direct: wants });
      const names = offer.transfer.files.map(({ name }) => name);
      const read = async (name) => digestOf(await (await (await root()).getFileHandle(name)).getFile());
      return outcomeOf(current, startedAt, () => Promise.all(names.map(read)).catch(() => null));
    },
    /** Resolves with the progress when so much of it has passed. */
    progressed: (share) =>
      new Promise((resolve) => {
        const look = () => {
          const progress = current?.progress;
          if (progress && progress.bytes >= share * progress.totalBytes) return resolve(progress);
          setTimeout(look, 5);
        };
        look();
      }),
    id: () => current.id,
    pathNow: () => current.progress.path,
    pause: () => current.pause(),
    resumeNow: () => current.resume(),
    /** As when the network between the two is gone. */
    cut() {
      for (const peer of peers.splice(0)) peer.close();
    },
  };
};
