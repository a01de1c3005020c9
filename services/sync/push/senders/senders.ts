import type { EndpointRules } from '../guard/endpoint-rules.ts';
import type { Resolve } from '../guard/guarded-agent.ts';
import type { PushNotice, PushOutcome, PushSender, PushTarget, SharedTexts } from '../sender.ts';
import { type ApnsOptions, makeApns } from './apns/apns.ts';
import { type FcmOptions, makeFcm } from './fcm/fcm.ts';
import { notHere, outcomeOfError } from './outcomes.ts';
import type { VapidOptions } from './web-push/vapid.ts';
import { makeWebPush } from './web-push/web-push.ts';

/** The time limit of one push, including a second try. */
const SEND_MS = 10_000;

export interface PushSenderParts {
  /** Null, here and below, means that this kind is not configured, and its pushes are left to other replicas. */
  vapid: VapidOptions | null;
  fcm: FcmOptions | null;
  apns: ApnsOptions | null;
  endpointRules: EndpointRules;
  texts: SharedTexts;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** For tests: certificates (PEM) to trust instead of those of the system, a resolver, a shorter timeout. */
  ca?: string;
  resolve?: Resolve;
  sendMs?: number;
}

type TargetOf<K extends PushTarget['kind']> = Extract<PushTarget, { kind: K }>;

interface KindSender<K extends PushTarget['kind']> {
  providerOf(target: TargetOf<K>): string;
  send(target: TargetOf<K>, notice: PushNotice, signal: AbortSignal): Promise<PushOutcome>;
  close(): Promise<void>;
}

/** Rejects when the signal aborts, and never resolves. */
const expiry = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** Makes the sender of pushes of all kinds. Throws at once if the options are visibly wrong. */
export function makePushSender(parts: PushSenderParts): PushSender {
  const { vapid, fcm, apns, endpointRules: rules, texts, now = Date.now, ca, resolve, sendMs = SEND_MS } = parts;
  const kinds: { [K in PushTarget['kind']]: KindSender<K> | null } = {
    web: vapid && makeWebPush({ vapid, rules, ca, resolve, now }),
    fcm: fcm && makeFcm({ fcm, texts, ca, now }),
    apns: apns && makeApns({ apns, texts, ca, now }),
  };
  const kindOf = <T extends PushTarget>(target: T) => kinds[target.kind] as KindSender<T['kind']> | null;

  return {
    providerOf: (target) => kindOf(target)?.providerOf(target) ?? target.kind,

    async send(target, notice) {
      const sender = kindOf(target);
      if (sender === null) return notHere('not_configured');
      const signal = AbortSignal.timeout(sendMs);
      try {
        return await Promise.race([sender.send(target, notice, signal), expiry(signal)]);
      } catch (error) {
        return outcomeOfError(error);
      }
    },

    async close() {
      await Promise.all(Object.values(kinds).map(async (sender) => sender?.close()));
    },
  };
}
