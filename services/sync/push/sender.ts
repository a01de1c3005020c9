/**
 * The target that a device registered, as it is stored. `p256dh` and `auth` are the base64url texts of the browser;
 * `keyId` names the VAPID key of the subscription.
 */
export type PushTarget =
  | {
      readonly kind: 'web';
      readonly endpoint: string;
      readonly p256dh: string;
      readonly auth: string;
      readonly keyId: string;
    }
  | { readonly kind: 'fcm'; readonly token: string }
  | { readonly kind: 'apns'; readonly token: string; readonly environment?: 'production' | 'sandbox' };

/** The content of a push. Only `preview` has text of users, and only web push carries it (inside RFC 8291 encryption). */
export interface PushNotice {
  readonly type: 'message' | 'transfer' | 'device' | 'test';
  readonly count: number;
  readonly id: string;
  readonly preview: { readonly from: string; readonly text?: string } | null;
  readonly ttlSeconds: number;
  readonly urgency: 'very-low' | 'low' | 'normal' | 'high';
  /** At most 32 characters of base64url. Pushes with the same topic replace one another at the provider. */
  readonly topic: string;
}

/**
 * The next step. `failed` ends this push and keeps the registration. `gone` ends both. `asOfMs` is when the provider
 * found that the target is gone, if it tells; a registration that was renewed after that time stays. `not_here`: the
 * settings of this replica do not allow the push. During a rollout, another replica may have settings that allow it.
 */
export type PushOutcome =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'gone'; readonly asOfMs?: number }
  | { readonly outcome: 'retry'; readonly afterMs: number | null; readonly reason: string }
  | { readonly outcome: 'not_here'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly reason: string };

export interface PushSender {
  /** Sends a push. Never rejects: an error of the network is a `retry`. Ends within its own timeout (10 s). */
  send(target: PushTarget, notice: PushNotice): Promise<PushOutcome>;
  /** Returns `host[:port]` of the provider, for which concurrency and breakers are counted. */
  providerOf(target: PushTarget): string;
  close(): Promise<void>;
}

/** Short-lived texts that all replicas share (tokens of providers). */
export interface SharedTexts {
  get(name: string): Promise<string | null>;
  /** Writes the text unless there is one already. Resolves to the kept one. */
  put(name: string, text: string, ttlSeconds: number): Promise<string>;
}
