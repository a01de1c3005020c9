import type { PeerToPeer } from '../../../shared/client/index.ts';
import { peerToPeer } from '../../../shared/client/peer-to-peer.ts';
import type { SealedFiles } from '../../../shared/client/sealing.ts';
import type { PeerModule } from '../../../shared/client/transfers/peer-module.ts';

/** The running transfers that are sealed, and who seals their signals. */
export const sealedRuns = new Map<string, Pick<SealedFiles, 'sealSignals'>>();

/** Makes the paths from device to device. The signals of a sealed transfer are sealed, so that nobody can replace them. */
export function appPaths(): PeerToPeer {
  const plain = peerToPeer() as PeerModule;
  const pathsOf = (transferId: string): PeerModule =>
    (sealedRuns.get(transferId)?.sealSignals(plain) as PeerModule | undefined) ?? plain;
  const made: PeerModule = {
    kind: 'peer-to-peer',
    sending: (parts) => pathsOf(parts.run.id).sending(parts),
    receiving: (parts) => pathsOf(parts.run.id).receiving(parts),
  };
  return made;
}
