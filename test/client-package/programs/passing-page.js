import { blobSource, makeBatonClient } from '@baton/client';

/* A page that sends and takes a file of random bytes; driven by the test. */
const digestOf = async (blob) => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
};

globalThis.join = async (headers) => {
  const baton = makeBatonClient({ baseUrl: '', headers });
  const offered = new Promise((resolve) => baton.on('incoming', resolve));
  baton.start();
  await baton.untilOnline();
  globalThis.device = {
    async send(to, bytes) {
      const parts = [];
      for (let at = 0; at < bytes; at += 65_536) {
        parts.push(crypto.getRandomValues(new Uint8Array(Math.min(65_536, bytes - at))));
      }
      const blob = new Blob(parts);
      const sending = await baton.transfers.send(to, [blobSource(blob, 'random.bin')]);
      const { state } = await sending.done;
      return { state, sha256: await digestOf(blob) };
    },
    async receive() {
      const offer = await offered;
      const root = await navigator.storage.getDirectory();
      const handle = await root.getFileHandle('random.bin', { create: true });
      const { state } = await offer.accept(() => handle.createWritable()).done;
      return { state, sha256: await digestOf(await handle.getFile()) };
    },
  };
};
