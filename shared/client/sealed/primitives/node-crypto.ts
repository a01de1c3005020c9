import type { KeyObject } from 'node:crypto';

type NodeCrypto = typeof import('node:crypto');

/**
 * Node's own cryptography; null in browsers. WebCrypto hands each operation to another thread there, which takes longer than
 * the operation itself where a text has a few hundred bytes.
 */
export const nodeCrypto: NodeCrypto | null = globalThis.process?.getBuiltinModule?.('node:crypto') ?? null;

const objects = new WeakMap<CryptoKey, KeyObject>();

/** Returns a key of WebCrypto as Node's own cryptography takes it. */
export function keyObjectOf({ KeyObject }: NodeCrypto, key: CryptoKey): KeyObject {
  const known = objects.get(key);
  if (known !== undefined) return known;
  const made = KeyObject.from(key);
  objects.set(key, made);
  return made;
}
