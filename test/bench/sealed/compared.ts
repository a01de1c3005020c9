import { readSignInLink, requestSignIn } from '../../../shared/client/index.ts';
import type { KeyedDevice } from '../../browser/keyed-device.ts';

export type Kind = 'sealed' | 'plain';

/** Something that is measured in an encrypted account, and in one that is not. */
export interface Compared<Figure extends string> {
  /** Returns rates: the more, the better. */
  measure(kind: Kind): Promise<Record<Figure, number>>;
  stop(): Promise<void>;
}

/** Lets in the device that shows this link, with keys where the account is encrypted. */
export async function letInAs(kind: Kind, laptop: KeyedDevice, link: string): Promise<string | null> {
  if (kind === 'sealed') return laptop.letIn(link);
  const found = readSignInLink(link);
  if (found === null) throw new Error('This is no link');
  await laptop.client.signIns.approve(found, { scope: 'full', persist: 'persist' });
  return null;
}
