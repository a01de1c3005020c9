/**
 * The types of the service, by the names of the contract, for programs that have only this package. A test compares each of
 * them with its schema.
 */
export type DeviceType = 'browser' | 'macos' | 'windows' | 'linux' | 'ios' | 'shortcut';
/** The rights of a session: everything, or only what a borrowed device needs. */
export type Scope = 'full' | 'guest';
/** `once` ends after an hour; `persist` a week after its last renewal. */
export type Persist = 'once' | 'persist';

/** A device by its id and name. */
export interface DeviceRef {
  device_id: string;
  name: string;
  type: DeviceType;
}

/** A person who has an account. */
export interface User {
  user_id: string;
  name: string;
}

/** A device of the account. */
export interface Device extends DeviceRef {
  online: boolean;
  /** True for the device that made the request. */
  current: boolean;
  /** Unix milliseconds, as every `_at`. */
  created_at: number;
  last_seen_at: number | null;
}

/** Whether a device, or a stream without a device, is connected. */
export interface PresenceEntry {
  /** Null for a stream of a session without a device. */
  device_id: string | null;
  name: string;
  type: DeviceType | null;
  online: boolean;
  last_seen_at: number | null;
}

/** Who is signed in, and what the service allows. */
export interface Me {
  user_id: string;
  name: string;
  scope: Scope;
  roles: string[];
  /** The name of the installation, the same at each of its origins. Older services leave out `service` and `origins`. */
  service?: string;
  /** Every origin of the installation, the public one first. */
  origins?: string[];
  device: DeviceRef | null;
  limits: { message_bytes: number; clipboard_bytes: number; clipboard_seconds: number; relay_window_bytes: number };
  /**
   * `sealed`: it keeps rings, and passes on what devices seal. `relay_preferred`: a sealed transfer may take the relay if
   * the client measures that it is faster. Older services leave them out.
   */
  features: { qr: boolean; web_push: boolean; native_push: boolean; sealed?: boolean; relay_preferred?: boolean };
}

/** A session of the account. */
export interface DeviceSession {
  session_id: string | null;
  device_id: string;
  name: string;
  type: DeviceType | null;
  scope: Scope | null;
  persist: Persist | null;
  online: boolean;
  current: boolean;
  created_at: number | null;
  last_active_at: number | null;
  expires_at: number | null;
}

/** The request of a device, as the approver sees it. */
export interface SignInRequestView {
  request_id: string;
  device_name: string;
  device_type: DeviceType;
  source: { address: string; user_agent: string };
  device_id: string;
  /** The public keys of the device; none: it gets no key of the account. */
  keys?: { enc: string; sig: string };
  age_seconds: number;
  expires_at: number;
  /** True: the device is signed in already, asks for keys, and keeps its access. */
  relink?: boolean;
  allowed_scopes: Scope[];
  allowed_persist: Persist[];
}

/** An invite for a new device, with which it can ask this one. By itself it lets nobody in, and it serves one request. */
export interface Invite {
  readonly invite_id: string;
  /** The link to a page of the service, shown as a QR code. */
  readonly link: string;
  /** Unix ms, by the service's clock. */
  readonly expires_at: number;
}

/** The link or the parts that identify a request to be let in. */
export type SignInLink = string | { request_id: string; approval_code: string };

/** A message to this device. */
export interface Message {
  message_id: string;
  from_device_id: string | null;
  from_name: string;
  /** Empty if the content is sealed. */
  content: string;
  /** Base64url. Only devices can open it. */
  sealed?: string;
  created_at: number;
  redelivered: boolean;
}

/** The state of a message on one device. */
export interface MessageTarget {
  device_id: string | null;
  name: string;
  online: boolean;
  pushed: boolean;
  error?: 'mailbox_full';
}

/** A message that the service keeps until it is acknowledged. */
export interface MessageAccepted {
  message_id: string;
  to: MessageTarget[];
  created_at: number;
}

/** Messages of this device that another device took. */
export interface MessagesDelivered {
  message_ids: string[];
  by_device_id: string;
  by_name: string;
  at: number;
}

/** Who changed the clipboard, and for how long it stays, without the content. */
export interface ClipboardChange {
  source_device_id: string | null;
  source_device_name: string;
  updated_at: number;
  expires_at: number;
  bytes: number;
}

/** The clipboard. When it is empty, `content` is `''` and the rest null. */
export interface ClipboardEntry {
  /** Empty if the content is sealed. */
  content: string;
  /** Base64url. Only devices can open it. */
  sealed?: string;
  content_type: 'text/plain' | null;
  source_device_id: string | null;
  source_device_name: string | null;
  updated_at: number | null;
  expires_at: number | null;
}

/** The state of a transfer for the service; the last three are final. */
export type TransferState = 'PENDING' | 'ACCEPTED' | 'P2P_ACTIVE' | 'RELAY_ACTIVE' | 'DONE' | 'FAILED' | 'CANCELLED';

/** The present step of one side of a transfer, for the user. */
export type TransferPhase =
  | 'initializing'
  | 'waiting_accept'
  | 'waiting_peer'
  | 'ice_gathering'
  | 'ice_checking'
  | 'ice_connected'
  | 'dc_open'
  | 'transferring'
  | 'completing'
  | 'fallback_pending'
  | 'relay_uploading'
  | 'relay_downloading'
  | 'peer_offline';

/** One file of a transfer. */
export interface TransferFile {
  index: number;
  /** A relative path with `/` between folders. The service has checked it; the receiver's file system may not take it. */
  name: string;
  size: number;
  type: string | null;
  /** In lower-case hexadecimal; null if the sender gave none. */
  sha256: string | null;
  /** When the sender says that it was last changed, in Unix milliseconds. */
  modified_at?: number;
}

/** Files from one device to another. */
export interface Transfer {
  transfer_id: string;
  state: TransferState;
  mode: 'p2p' | 'relay';
  phase: TransferPhase;
  sender: { device_id: string; name: string };
  receiver: { device_id: string; name: string };
  /** Left out of events and lists when there are more than 16. */
  files?: TransferFile[];
  file_count: number;
  total_bytes: number;
  /** Null: nothing was sealed. Complete in `transfers.get` while the transfer is live, otherwise an empty text. */
  sealed: string | null;
  progress: { sent_bytes: number; received_bytes: number };
  /** `by_device_id`: the party that ended it, null for the service. The service does not check what a party reports. */
  error: { code: string; detail: string | null; by_device_id: string | null } | null;
  uploads?: { index: number; upload_url: string; offset: number }[];
  downloads?: { index: number; download_url: string }[];
  created_at: number;
  updated_at: number;
  expires_at: number;
}

/** The keys that a device needs to subscribe. */
export interface PushConfig {
  vapid_public_key: string | null;
  vapid_key_id: string | null;
  native: ('fcm' | 'apns')[];
}

/** A signal that a program sends. */
export interface SignalRequest {
  kind: 'offer' | 'answer' | 'candidate' | 'bye';
  /** Any JSON, at most 16 KB. */
  payload: unknown;
  /** A transfer between the two devices. */
  transfer_id?: string;
}

/** The subscription of a browser. */
export interface PushSubscriptionRequest {
  endpoint: string;
  keys: { p256dh: string; auth: string };
  preview?: 'none' | 'sender' | 'full';
  vapid_key_id?: string;
}

/** The subscription of an app. */
export interface NativePushRequest {
  platform: 'fcm' | 'apns';
  token: string;
  environment?: 'production' | 'sandbox';
}

/** A subscription that was made. */
export interface PushSubscribed {
  subscription_id: string;
  platform: 'web' | 'fcm' | 'apns';
}

/** A subscription of the account, without its secrets. */
export interface PushSubscriptionEntry extends PushSubscribed {
  device_id: string;
  state: 'active' | 'suspended';
  created_at: number;
  last_ok_at: number | null;
}

/** The codes of the contract's registry. */
export type ServiceErrorCode =
  | 'invalid_request'
  | 'poll_secret_required'
  | 'invalid_device_name'
  | 'scope_not_allowed'
  | 'empty_message'
  | 'endpoint_not_allowed'
  | 'upload_length_mismatch'
  | 'unauthenticated'
  | 'untrusted_edge'
  | 'session_revoked'
  | 'session_expired'
  | 'reuse_detected'
  | 'guest_forbidden'
  | 'tier_exceeded'
  | 'device_mismatch'
  | 'device_required'
  | 'cross_site'
  | 'access_denied'
  | 'account_refused'
  | 'not_a_party'
  | 'not_found'
  | 'feature_disabled'
  | 'method_not_allowed'
  | 'name_taken'
  | 'keys_conflict'
  | 'already_decided'
  | 'invalid_transition'
  | 'offset_mismatch'
  | 'mailbox_full'
  | 'device_limit'
  | 'transfer_limit'
  | 'login_expired'
  | 'login_consumed'
  | 'upload_gone'
  | 'body_too_large'
  | 'message_too_large'
  | 'clipboard_too_large'
  | 'unsupported_media_type'
  | 'range_not_available'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'window_full'
  | 'internal'
  | 'broker_contract'
  | 'broker_unavailable'
  | 'store_unavailable'
  | 'store_full'
  | 'draining'
  | 'relay_busy';
