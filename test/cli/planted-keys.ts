import { join } from 'node:path';
import { readSignInLink } from '../../shared/client/index.ts';
import { fileSession } from '../../shared/client/node.ts';
import { makeDeviceKeys, publicKeysOf } from '../../shared/client/sealed/keys/device-keys.ts';
import { concat, randomBytes, toBase64url, u32, u64 } from '../../shared/client/sealed/primitives/bytes.ts';
import { keyIdOf } from '../../shared/client/sealed/ring/account-keys.ts';
import { hashOf, signRing } from '../../shared/client/sealed/ring/ring.ts';
import { readKeyedLink } from '../../shared/client/sealing.ts';
import { makeRingCalls } from '../../shared/client/sealing/ring-calls.ts';
import { makeSealingCalls } from '../../shared/client/sealing/sealing-calls.ts';
import type { Terminals } from './terminal.ts';

/* The secrets of letting in and removing a device: the link's secret, and the keys of the account in a ring. */

/** The key in force, the one before it, and the secret of a link. */
export type Secrets = Record<'accountKey' | 'olderKey' | 'linkSecret', Uint8Array>;

/** Returns the secret in the link of a device that asks to be let in. */
export function secretOf(link: string): Uint8Array {
  const secret = readKeyedLink(link)?.key?.secret;
  if (secret === undefined) throw new Error('The link has no keys');
  return secret;
}

/**
 * Lets a device in and replaces the key of a new account like a careless program, which encrypts nothing. The service cannot
 * tell, because it opens nothing.
 */
export async function plantCarelessly({ terminal, devices, door }: Terminals): Promise<Secrets> {
  const [careless] = await devices('Careless');
  if (careless === undefined) throw new Error('no device');
  const session = fileSession(join(careless.config, 'session.json'));
  const calls = makeSealingCalls({ baseUrl: door.url, session });
  const ringCalls = makeRingCalls(calls);
  const known = await session.load();
  if (known === null) throw new Error('not signed in');
  const { service, user_id, device_id } = await ringCalls.accountOf(known);
  const keys = await makeDeviceKeys();
  const members = [{ device_id, kind: 'cli', ...(await publicKeysOf(keys)), since: 1 }];
  const [olderKey, accountKey] = [randomBytes(32), randomBytes(32)];
  const ringOf = async (n: number, key: Uint8Array<ArrayBuffer>, prev_hash: string, older: string) => {
    // This has the length of a wrapped key.
    const wraps = { [device_id]: toBase64url(concat(Uint8Array.of(2), new Uint8Array(65), key, new Uint8Array(16))) };
    const head = { v: 1, service, user_id, n, prev_hash, epoch: n, key_id: await keyIdOf(key) } as const;
    return signRing({ ...head, members, wraps, older }, keys);
  };
  const first = await ringOf(1, olderKey, '', '');
  await ringCalls.put(first.text, 1);
  const older = concat(new Uint8Array(12), u32(1), u64(Date.now()), olderKey, new Uint8Array(16));
  await ringCalls.put((await ringOf(2, accountKey, hashOf(first), toBase64url(older))).text, 2);

  const asking = terminal().run(['login', door.url, '--name', 'Tablet']);
  const [link] = await asking.says(/http:\/\/\S+\/link\?\S+/);
  const [parts, linkSecret] = [readSignInLink(link), secretOf(link)];
  if (parts === null) throw new Error('This is no link');
  const body = { ...parts, scope: 'full', persist: 'persist', sealed: toBase64url(linkSecret) } as const;
  await calls.caller.call('approveLogin', { body });
  await asking.status;
  return { accountKey, olderKey, linkSecret };
}
