/* The exports of `@baton/client/peer-to-peer`: bytes from device to device, for pages that import it. */
import type { PeerToPeer } from './api.ts';
import type { PeerModule } from './transfers/peer-module.ts';
import { makePeerReceiving } from './peer-to-peer/receiving.ts';
import { makePeerSending } from './peer-to-peer/sending.ts';

/** The application's choice of paths between devices. */
export interface PeerToPeerOptions {
  /** `relay`: only through the TURN servers of the service, so that the other device does not learn this one's addresses. */
  iceTransportPolicy?: 'all' | 'relay';
}

/**
 * Lets files go from device to device over WebRTC if a path opens, and through the relay if none does. A transfer can
 * change from one to the other. Usage: `makeBatonClient({ peerToPeer: peerToPeer() })`. Without WebRTC (Node) it changes
 * nothing.
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
