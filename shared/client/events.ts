import type {
  ClipboardChange,
  DeviceRef,
  DeviceType,
  Message,
  MessagesDelivered,
  PresenceEntry,
  SignalRequest,
  Transfer,
} from './wire.ts';

/** The data of the events of the stream, by name. */
export interface StreamEvents {
  /** First on every stream. `resumed: false`: fetch your state again. */
  ready: {
    resumed: boolean;
    reason?: 'new' | 'expired' | 'gap' | 'store_lost';
    device: DeviceRef | null;
    presence: { version: number; devices: PresenceEntry[] };
    clipboard: { updated_at: number; expires_at: number } | null;
    pending: { messages: number; transfers: number };
    heartbeat_ms: number;
    server_id: string;
  };
  reconnect: { reason: 'draining' | 'rotate' | 'slow' | 'superseded' | 'busy' | 'store'; retry_ms: number };
  degraded: { reason: 'store' };
  restored: { reason: 'store' };
  ping: object;
  presence: { version: number; devices: PresenceEntry[] };
  message: Message;
  'message:delivered': MessagesDelivered;
  clipboard: ClipboardChange;
  'clipboard:cleared': object;
  /** The number of the newest ring of keys; 0: there is none. */
  keys: { n: number };
  'device:added': { device: DeviceRef };
  'device:renamed': { device: DeviceRef };
  'device:removed': { device_id: string };
  'session:revoked': { reason: 'revoked' | 'logout' | 'expired' };
  'signin:requested': {
    request_id: string;
    approval_code: string;
    device_name: string;
    device_type: DeviceType;
    source: { address: string; user_agent: string };
    expires_at: number;
    device_id: string;
    keys?: { enc: string; sig: string };
    relink?: boolean;
  };
  'transfer:incoming': { transfer: Transfer; redelivered: boolean };
  'transfer:updated': { transfer: Transfer };
  'relay:rewind': { transfer_id: string; index: number; upload_url: string; offset: number };
  signal: {
    from_device_id: string;
    from_name: string;
    transfer_id: string | null;
    kind: SignalRequest['kind'];
    payload: unknown;
  };
}

/** An event of the stream as the contract has it; `name` tells the type of `data`. `id`: its position, if it has one. */
export type StreamedEvent = {
  [N in keyof StreamEvents]: { readonly name: N; readonly data: StreamEvents[N]; readonly id: string | null };
}[keyof StreamEvents];
