import { makeClient } from '../../../shared/client/http/client.ts';
import type { Transfer, TransferState } from '../../../shared/contract/modules/transfers.ts';
import { type Recorder, recordStream } from '../../support/stream-recorder.ts';
import { receiveBytes, type Sent, sendBytes } from './channel.ts';
import { seededBytes, sha256Of } from './content.ts';
import { openPeerLink, type PeerLink } from './peer-link.ts';

/** The longest that a page may live: the browser's longest timer. */
const FOREVER_MS = 2 ** 31 - 1;

interface Ended {
  /** The last record that this device's stream brought. */
  transfer: Transfer;
  /** The states of the records that it brought, in order. */
  states: TransferState[];
  path: { local: string; remote: string };
}

/** One device in its page, on the replica that served the page. */
export interface Party {
  readonly stream: Recorder;
  /** Offers one file of random bytes to the device of this name. */
  offer(to: string, content: { length: number; seed: number }): Promise<{ transfer: Transfer; online: boolean }>;
  /** Waits until the offer is accepted, and passes the file. Resolves when both ends are done. */
  send(transferId: string): Promise<Ended & Sent>;
  /** Accepts and stores the file, and completes the transfer if the file is what was announced. */
  receive(transferId: string): Promise<Ended & { sha256: string; tookMs: number }>;
}

declare global {
  var joinAccount: (device: { headers: Record<string, string> }) => void;
  var party: Party;
}

function makeParty({ headers }: { headers: Record<string, string> }): Party {
  const client = makeClient({ baseUrl: '', headers });
  const stream = recordStream({ baseUrl: '', headers });
  const offered = new Map<string, Uint8Array<ArrayBuffer>>();

  const reached = async (transferId: string, state: TransferState): Promise<Transfer> => {
    const isIt = ({ transfer }: { transfer: Transfer }) =>
      transfer.transfer_id === transferId && transfer.state === state;
    return (await stream.next('transfer:updated', ({ data }) => isIt(data), FOREVER_MS)).data.transfer;
  };

  async function takeSignals(transferId: string, link: PeerLink): Promise<never> {
    for (;;) {
      const isForIt = ({ data }: { data: { transfer_id: string | null } }) => data.transfer_id === transferId;
      link.take((await stream.next('signal', isForIt, FOREVER_MS)).data);
    }
  }

  async function linkTo(peerId: string, transferId: string, { offering }: { offering: boolean }): Promise<PeerLink> {
    const { body } = await client.call('getIceServers');
    const link = openPeerLink({
      iceServers: body.ice_servers,
      offering,
      send: (kind, payload) =>
        client.call('sendSignal', { body: { to_device_id: peerId, transfer_id: transferId, kind, payload } }),
    });
    link.opened.catch(() => link.close());
    void takeSignals(transferId, link);
    return link;
  }

  async function end(transferId: string, link: PeerLink): Promise<Ended> {
    const transfer = await reached(transferId, 'DONE');
    const told = stream.events.flatMap(({ name, data }) => (name === 'transfer:updated' ? [data.transfer] : []));
    const path = await link.path();
    link.close();
    const states = told.filter((one) => one.transfer_id === transferId).map(({ state }) => state);
    return { transfer, states, path };
  }

  return {
    stream,
    async offer(to, { length, seed }) {
      const bytes = seededBytes(length, seed);
      const file = { name: 'random.bin', size: length, sha256: await sha256Of(bytes) };
      const { body } = await client.call('initTransfer', { body: { to, files: [file] } });
      offered.set(body.transfer.transfer_id, bytes);
      return { transfer: body.transfer, online: body.receiver_online };
    },
    async send(transferId) {
      const { receiver } = await reached(transferId, 'ACCEPTED');
      const link = await linkTo(receiver.device_id, transferId, { offering: true });
      await link.opened;
      await client.call('p2pTransfer', { params: { transfer_id: transferId } });
      const sent = await sendBytes(link.channel, offered.get(transferId) as Uint8Array<ArrayBuffer>);
      return { ...sent, ...(await end(transferId, link)) };
    },
    async receive(transferId) {
      const params = { transfer_id: transferId };
      const { body } = await client.call('acceptTransfer', { params });
      const link = await linkTo(body.transfer.sender.device_id, transferId, { offering: false });
      const received = receiveBytes(link.channel, body.transfer.total_bytes);
      await link.opened;
      await client.call('p2pTransfer', { params });
      const { bytes, tookMs } = await received;
      const sha256 = await sha256Of(bytes);
      const asAnnounced = sha256 === body.transfer.files?.[0]?.sha256;
      if (asAnnounced) await client.call('completeTransfer', { params });
      else await client.call('failTransfer', { params, body: { reason: 'corrupt' } });
      return { sha256, tookMs, ...(await end(transferId, link)) };
    },
  };
}

globalThis.joinAccount = (device) => {
  globalThis.party = makeParty(device);
};
