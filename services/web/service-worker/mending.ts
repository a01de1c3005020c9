import { inLock } from '../locks.ts';
import { accountHere, keepPushChoice, type PushChoice, pushChoice } from './here.ts';
import { digestOf, partsOf, subscribeFor } from './subscribing.ts';

interface Config {
  vapid_public_key: string | null;
  vapid_key_id: string | null;
}

/** @throws when the service refuses, or does not answer */
async function call(path: string, { headers }: PushChoice, body?: object): Promise<unknown> {
  const answer = await fetch(path, {
    ...{ method: body ? 'POST' : 'GET', credentials: 'same-origin', cache: 'no-store' },
    headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

async function mend(manager: PushManager, choice: PushChoice): Promise<void> {
  const { vapid_public_key: key, vapid_key_id } = (await call('/api/push/config', choice)) as Config;
  if (key === null) return;
  const parts = partsOf(await subscribeFor(manager, key));
  const { preview } = choice;
  const told = await call('/api/push/subscribe', choice, { ...parts, preview, ...(vapid_key_id && { vapid_key_id }) });
  const { subscription_id: subscriptionId } = told as { subscription_id: string };
  await keepPushChoice({ ...choice, told: { subscriptionId, digest: await digestOf(parts) } });
}

/**
 * Tells the service the new subscription when the browser has replaced or dropped the old one, perhaps with no page open. If
 * that fails, the next start of the app finds the difference and repairs it.
 */
export async function mendSubscription(manager: PushManager): Promise<void> {
  const [account, choice] = [await accountHere(), await pushChoice()];
  if (!choice?.isWanted || choice.account !== account) return;
  await keepPushChoice({ ...choice, told: null });
  // The pages use the same lock.
  await inLock('baton-push', () => mend(manager, choice)).catch(() => {});
}
