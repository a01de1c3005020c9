import type { Transfers } from '../../../shared/client/api.ts';
import { makeEmitter } from '../../../shared/client/emitter.ts';
import type { FileSource } from '../../../shared/client/files/files.ts';
import { type Caller, makeCaller } from '../../../shared/client/http/caller.ts';
import { systemClock } from '../../../shared/client/time/clock.ts';
import type { PeerModule, Signal, Wanted } from '../../../shared/client/transfers/peer-module.ts';
import { makeTransfers, type TransferModule } from '../../../shared/client/transfers/transfers.ts';
import type { Transfer } from '../../../shared/client/wire.ts';
import type { Party } from './party.ts';
import type { PassedSignal } from './relay.ts';
import type { HostileServer } from './hostile-server.ts';

/** The transfers of the client in one page, or one program, of a device. */
export interface End {
  readonly api: Transfers;
  /** Takes the news of a transfer, as the stream brings it. */
  onUpdated(transfer: Transfer): void;
  /** Sends a signal of a running transfer, as a path between devices does. */
  signal(about: { to: string; transferId: string; kind: string; payload: unknown }): Promise<unknown>;
  /** Takes signals as the stream brings them. Resolves with those that reach the path, once all of them were opened. */
  takeSignals(signals: readonly PassedSignal[], transferId: string): Promise<readonly Signal[]>;
  /** The sealed files that it sends. */
  readonly sources: readonly FileSource[];
  /** Opens the path between the devices, on which these files come from now on. */
  openPath(sources: readonly FileSource[]): void;
  close(): void;
}

const never = new AbortController().signal;

/** Takes a file from its sender, from the byte on that is wanted. */
async function fetchFrom(sources: readonly FileSource[], { index, offset, take }: Wanted): Promise<void> {
  const stream = await (sources[index] as FileSource).open(offset, never);
  for await (const piece of stream as unknown as AsyncIterable<Uint8Array>) await take(piece);
}

/** Makes the real transfers of a device, by the hostile server, with a path that shows which signals come. */
export function makeEnd(party: Party, server: HostileServer): End {
  const life = new AbortController();
  const taken: Signal[] = [];
  let own: Caller | null = null;
  let sources: readonly FileSource[] = [];
  let path: readonly FileSource[] | null = null;
  const side = ({ caller }: { caller: Caller }) => {
    own = caller;
    return {
      get isOpen() {
        return path !== null;
      },
      ...{ take: (signal: Signal) => void taken.push(signal), there() {}, nudge() {}, stored() {} },
      fetch: (wanted: Wanted) => fetchFrom(path ?? [], wanted),
    };
  };
  const peers: PeerModule = {
    kind: 'peer-to-peer',
    sending(parts) {
      sources = parts.sources;
      return { ...side(parts), isOpen: false, begin: () => void parts.relay.begin() };
    },
    receiving: (parts) => Object.assign(side(parts), { begin() {} }),
  };
  const module: TransferModule = makeTransfers({
    options: { peerToPeer: party.sealing.files.sealSignals(peers) },
    caller: makeCaller({
      ...{ baseUrl: 'http://127.0.0.1:1', headers: undefined, keeper: null },
      ...{ fetch: server.fetchFor(party.device), clock: systemClock, signal: () => life.signal },
    }),
    ...{ clock: systemClock, emitter: makeEmitter(() => {}), life: () => life.signal, start() {} },
    ...{ presence: () => [], deviceId: () => party.id, onProblem() {} },
  });
  const pass = (signal: Omit<PassedSignal, 'transferId'>, transfer_id: string): void =>
    module.onSignal({ ...signal, from_device_id: signal.from, from_name: 'any', transfer_id } as never);
  return {
    api: module.api,
    onUpdated: (transfer) => module.onUpdated({ transfer }),
    async signal({ to, transferId, kind, payload }) {
      const body = { to_device_id: to, transfer_id: transferId, kind, payload } as never;
      return own?.call('sendSignal', { body });
    },
    async takeSignals(signals, transferId) {
      taken.length = 0;
      for (const signal of signals) pass(signal, transferId);
      // They are opened one after the other, so all were opened when this one is read.
      await new Promise<void>((resolve) => {
        const payload = Object.defineProperty({}, 'sealed', { get: resolve });
        pass({ from: '', kind: 'candidate', payload }, transferId);
      });
      return [...taken];
    },
    get sources() {
      return sources;
    },
    openPath: (from) => void (path = from),
    close: () => life.abort(),
  };
}
