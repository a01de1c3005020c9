import { blobSource, makeBatonClient, memorySession } from '@baton/client';
import { peerToPeer } from '@baton/client/peer-to-peer';
import {
  adoptFirstRing,
  adoptRing,
  browserKeys,
  hashOf,
  keepDeviceKeys,
  makeFirstRing,
  makeNextRing,
  memoryKeys,
  publicKeysOf,
  takeKeys,
} from '@baton/client/sealed';
import { makeSealing, memoryTaken } from '@baton/client/sealing';

/* A page that sends and takes sealed files from device to device; driven by the test, which also cuts the path. */
const store = memoryKeys();
const peers = [];
const signals = [];
const Plain = globalThis.RTCPeerConnection;
globalThis.RTCPeerConnection = class extends Plain {
  constructor(configuration) {
    super(configuration);
    peers.push(this);
  }
};

/** Notes what the service gets to read of signals. */
const noting = (url, init) => {
  if (String(url).endsWith('/api/hub/signal')) signals.push(init.body);
  return fetch(url, init);
};

const digestOf = async (blob) => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
};

function randomBlob(bytes) {
  const all = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(all.subarray(at, at + 65_536));
  return new Blob([all]);
}

async function outcomeOf(running, sha256) {
  const paths = [];
  running.onProgress(({ path }) => {
    if (path !== null && paths.at(-1) !== path) paths.push(path);
  });
  const settled = await running.done.catch(({ code }) => ({ state: code }));
  return {
    state: settled.state,
    names: settled.files?.map(({ name }) => name),
    paths,
    signals,
    sha256: await sha256(),
  };
}

/** The public keys of this page. */
globalThis.keys = async () => publicKeysOf((await keepDeviceKeys(store)).keys);

/** The rings of an account of two devices, made by the first of them. */
globalThis.makeRings = async (account, own, other) => {
  const { keys } = await keepDeviceKeys(store);
  const first = await makeFirstRing(account, { device_id: own, keys, kind: 'web' });
  const next = await makeNextRing(first, { device_id: own, keys }, { add: [{ ...other, kind: 'web' }] }, Date.now());
  return { texts: [first.text, next.text], hash: hashOf(first) };
};

globalThis.join = async (headers, { account, isFirst, texts, hash }) => {
  if (isFirst) await adoptFirstRing(store, account, texts[0], Date.now());
  else await adoptRing(store, { account, n: 1, hash }, texts, Date.now());
  const { keyring } = await takeKeys(store, { rings: texts, n: 2, guests: null }, Date.now());
  const grant = { load: async () => null, save: async () => {}, clear: async () => {} };
  const about = { baseUrl: '', session: memorySession(), keys: store, asking: memoryKeys(), grant };
  const { files } = makeSealing({ ...about, taken: memoryTaken() });
  const baton = makeBatonClient({ baseUrl: '', headers, fetch: noting, peerToPeer: files.sealSignals(peerToPeer()) });
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
    async send(to, size) {
      const blob = randomBlob(size);
      const sources = [blobSource(blob, 'holiday/film.mkv'), blobSource(new Blob([]), 'empty')];
      const offer = await files.seal(keyring, { to, files: sources });
      current = await files.send(baton.transfers, offer, sources);
      return outcomeOf(current, () => digestOf(blob));
    },
    async receive(slowMs) {
      if (offers.length === 0) await new Promise((resolve) => (hand = resolve));
      const received = await files.open(baton.transfers, keyring, offers.shift());
      if (received.kind !== 'opened') return { state: received.problem?.code ?? received.kind };
      const chunks = [];
      current = received.offer.accept(() => ({
        async write(chunk) {
          chunks.push(chunk.slice());
          if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
        },
        close() {},
      }));
      return outcomeOf(current, () => digestOf(new Blob(chunks)));
    },
    /** Resolves when so much of it has passed. */
    progressed: (share) =>
      new Promise((resolve) => {
        const look = () => {
          const progress = current?.progress;
          if (progress && progress.bytes >= share * progress.totalBytes) return resolve();
          setTimeout(look, 5);
        };
        look();
      }),
    /** As when the network between the two is gone. */
    cut() {
      for (const peer of peers.splice(0)) peer.close();
    },
  };
};

/** The stores of keys in this browser. */
globalThis.storeOf = browserKeys;
