import type { IceServer } from '../../contract/modules/signal.ts';
import type { Caller } from '../http/caller.ts';
import type { Run } from '../transfers/transfer-run.ts';

/** The application's choice of paths between devices. */
export interface PeerPolicy {
  iceTransportPolicy?: 'all' | 'relay';
}

/** The signals that pass through the service while two devices look for a path. */
export interface Signaller {
  configuration(): Promise<{ iceServers: IceServer[]; iceTransportPolicy?: 'all' | 'relay' }>;
  send(kind: 'offer' | 'answer' | 'candidate', payload: object): Promise<unknown>;
  /** Tells why this attempt is over, or that there is none. If the signal is lost, the other side waits for its timeout. */
  bye(attempt: string, reason: 'again' | 'unsupported' | 'failed' | 'misbehaved' | 'over'): void;
}

export const canConnect = (): boolean => typeof globalThis.RTCPeerConnection === 'function';

/** Returns a text of a payload; null when it has none. */
export const textOf = (payload: unknown, name: string): string | null => {
  const value = (payload as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value : null;
};

/** Returns the attempt that a signal belongs to; '' for a peer that does not name it. */
export const attemptOf = (payload: unknown): string => textOf(payload, 'attempt') ?? '';

interface SignallerParts {
  run: Run;
  caller: Caller;
  toId: string;
}

export function makeSignaller(policy: PeerPolicy, { run, caller, toId }: SignallerParts): Signaller {
  const { signal } = run;
  const post = (kind: 'offer' | 'answer' | 'candidate' | 'bye', payload: object) =>
    caller.call('sendSignal', { body: { to_device_id: toId, transfer_id: run.id, kind, payload }, signal });
  return {
    async configuration() {
      // Without any server two devices on one network still find each other.
      const servers = await caller
        .call('getIceServers', { signal })
        .then(({ body }) => body.ice_servers)
        .catch(() => []);
      return { iceServers: servers, ...policy };
    },
    send: post,
    bye(attempt, reason) {
      post('bye', { ...(attempt !== '' && { attempt }), reason }).catch(() => {});
    },
  };
}
