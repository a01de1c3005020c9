/* What `@baton/client/peer-to-peer` has: bytes from device to device, for pages that import it. */
import type { PeerToPeer } from './api.ts';
import type { PeerModule } from './transfers/peer-module.ts';
import { makePeerReceiving } from './peer-to-peer/receiving.ts';
import { makePeerSending } from './peer-to-peer/sending.ts';

/** What the application decides of paths between devices. */
export interface PeerToPeerOptions {
  /** `relay`: by the TURN servers of the service alone, so that the other device does not learn this one's addresses. */
  iceTransportPolicy?: 'all' | 'relay';
}

/**
 * Lets files go from device to device over WebRTC where a path opens, and by the relay where none does, changing over inside
 * of a transfer: `makeBatonClient({ peerToPeer: peerToPeer() })`. Where there is no WebRTC (Node) it changes nothing.
 */
export function peerToPeer({ iceTransportPolicy = 'all' }: PeerToPeerOptions = {}): PeerToPeer {
  const policy = { iceTransportPolicy };
  const made: PeerModule = {
    kind: 'peer-to-peer',
    sending: (parts) => makePeerSending(policy, parts),
    receiving: (parts) => makePeerReceiving(policy, parts),
  };
  return made;
}
