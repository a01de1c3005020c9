/*
 * Scripts that the pages of the bench run before the app. THROUGH_NETWORK gives every candidate of the other side the port of
 * the delayed network, so that no datagram finds another way.
 */

export const THROUGH_NETWORK = `{
  const answers = new Map();
  let asked = 0;
  window.portIs = (id, port) => answers.get(id)(port);
  const add = RTCPeerConnection.prototype.addIceCandidate;
  RTCPeerConnection.prototype.addIceCandidate = async function (candidate) {
    const words = (candidate?.candidate ?? '').split(' ');
    if (words[2]?.toLowerCase() !== 'udp' || words[4] !== '127.0.0.1') return;
    asked += 1;
    const id = asked;
    words[5] = await new Promise((resolve) => {
      answers.set(id, resolve);
      askPort(JSON.stringify({ id, port: Number(words[5]) }));
    });
    return add.call(this, { candidate: words.join(' '), sdpMid: '0', sdpMLineIndex: 0 });
  };
}`;

/** Limits a page to one connection at a time: a further one of the same transfer cannot be made. */
export const ONE_CONNECTION = `{
  const Own = RTCPeerConnection;
  const open = new Set();
  window.RTCPeerConnection = class extends Own {
    constructor(configuration) {
      for (const one of open) {
        if (one.connectionState === 'closed') open.delete(one);
        if (one.connectionState === 'connected') throw new Error('Only one');
      }
      super(configuration);
      open.add(this);
    }
  };
}`;

/**
 * PairDrop's way of sending (public/scripts/network.js of PairDrop 1.10): one ordered reliable channel, chunks of 64,000
 * bytes, and after each million bytes a wait for the receiver's word. It reads no file, takes no digest and stores nothing.
 */
export const PAIR_DROP = `
  window.pairDrop = {
    candidates: [],
    make() {
      const peer = new RTCPeerConnection();
      const channel = peer.createDataChannel('data-channel', { negotiated: true, id: 0, ordered: true });
      channel.binaryType = 'arraybuffer';
      peer.addEventListener('icecandidate', ({ candidate }) => candidate && this.candidates.push(candidate.toJSON()));
      this.opened = new Promise((resolve) => channel.addEventListener('open', resolve));
      Object.assign(this, { peer, channel });
    },
    async describe() {
      await this.peer.setLocalDescription();
      const { type, sdp } = this.peer.localDescription;
      // Candidates are sent by themselves, so that each passes the network.
      return { type, sdp: sdp.replace(/a=candidate.*\\r\\n/g, '') };
    },
    async gathered() {
      while (this.peer.iceGatheringState !== 'complete') {
        await new Promise((resolve) => this.peer.addEventListener('icegatheringstatechange', resolve, { once: true }));
      }
      return this.candidates;
    },
    take: (description) => pairDrop.peer.setRemoteDescription(description).then(() => null),
    add: (candidates) => Promise.all(candidates.map((one) => pairDrop.peer.addIceCandidate(one))).then(() => null),
    receive(bytes) {
      let came = 0;
      this.received = new Promise((resolve) => {
        this.channel.addEventListener('message', ({ data }) => {
          if (typeof data === 'string') return this.channel.send('partition-received');
          came += data.byteLength;
          if (came === bytes) resolve(null);
        });
      });
      return null;
    },
    async send(bytes) {
      const chunk = new Uint8Array(64000).map((_, at) => at * 7);
      for (let sent = 0; sent < bytes; ) {
        for (let part = 0; part < 1e6 && sent < bytes; ) {
          const length = Math.min(chunk.length, bytes - sent);
          this.channel.send(chunk.subarray(0, length));
          sent += length;
          part += length;
        }
        const heard = new Promise((resolve) => this.channel.addEventListener('message', resolve, { once: true }));
        this.channel.send('partition');
        await heard;
      }
      return null;
    },
  };`;
