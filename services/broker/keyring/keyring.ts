import { performance } from 'node:perf_hooks';
import type { JWK } from 'jose';
import type { Logger } from 'pino';
import { BatonError } from '../../../shared/contract/errors.ts';
import { makeStoredKey, readStoredKey, sealedAnew, type SigningKey } from './signing-key.ts';
import type { KeyringStore } from './store.ts';

/** The shortest time between two reads of the store for unknown key ids, regardless of who sends them. */
const CHECK_AGAIN_MS = 1_000;
const CHECK_EVERY_MS = 30_000;
const START_AGAIN_MS = 500;

interface KeyringParts {
  store: KeyringStore;
  secrets: readonly string[];
  /** How long one key signs. */
  keyMs: number;
  /** How long a key is published before it signs and after it signed: longer than anybody caches a key set. */
  overlapMs: number;
  logger: Logger;
  /** Called after each check of the keyring's own timer: whether the store answered, and if not, why. */
  onChecked?: (ok: boolean, error?: unknown) => void;
}

/** A key that can sign, with its private parts. */
export type OwnKey = SigningKey & { readonly own: NonNullable<SigningKey['own']> };

const isOwn = (key: SigningKey): key is OwnKey => key.own !== null;

/**
 * The keys of the broker, shared by all its processes over the store:
 *
 *     made -- overlap --> signs -- keyMs --> published still -- overlap --> removed
 *
 * The first key signs at once. A key that is sealed with a secret which this process lacks only verifies, and another key
 * is made to sign. A key that is stored unsealed, from before there was a secret, is sealed.
 */
export class Keyring {
  readonly #parts: KeyringParts;
  #keys: SigningKey[] = [];
  /** The store's clock minus our monotonic one. */
  #offsetMs = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(parts: KeyringParts) {
    this.#parts = parts;
  }

  /** Whether there is a key that signs. */
  get isReady(): boolean {
    return this.#keys.some(isOwn);
  }

  /** Starts reading the keys: again and again until there are some, and then regularly. */
  start(): void {
    const check = (): void => {
      this.refresh().then(
        () => this.#parts.onChecked?.(true),
        (error: unknown) => {
          this.#parts.logger.debug({ err: error }, 'keys could not be read');
          this.#parts.onChecked?.(false, error);
        },
      );
      const everyMs = Math.min(CHECK_EVERY_MS, this.#parts.overlapMs / 4);
      this.#timer = this.#stopped ? null : setTimeout(check, this.isReady ? everyMs : START_AGAIN_MS);
    };
    check();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#reading?.catch(() => undefined);
  }

  /** The key that signs now. Throws `store_unavailable` if none was ever read. */
  get signing(): OwnKey {
    const nowMs = performance.now() + this.#offsetMs;
    const own = this.#keys.filter(isOwn);
    const key = own.findLast(({ fromMs }) => fromMs <= nowMs) ?? own[0];
    if (key === undefined) throw new BatonError('store_unavailable');
    return key;
  }

  /** The published key set, newest key last. */
  get jwks(): { keys: JWK[] } {
    if (this.#keys.length === 0) throw new BatonError('store_unavailable');
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) };
  }

  /** Finds a key by its id, in the store too, because another process may have just made it. */
  async find(id: string): Promise<SigningKey | null> {
    const found = this.#find(id);
    if (found !== null) return found;
    if (performance.now() - this.#readAt >= CHECK_AGAIN_MS) await this.refresh();
    return this.#find(id);
  }

  /** Reads the keys, makes one if it is due, and removes expired ones. Concurrent calls share one refresh. */
  refresh(): Promise<void> {
    this.#reading ??= this.#refresh().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  #find(id: string): SigningKey | null {
    return this.#keys.find((key) => key.id === id) ?? null;
  }

  async #refresh(): Promise<void> {
    this.#readAt = performance.now();
    const { newest, nowMs } = await this.#read();
    const fromMs = this.#nextFromMs(nowMs);
    if (fromMs !== null) {
      await this.#parts.store.add(newest, await makeStoredKey(fromMs, this.#parts.secrets));
      await this.#read();
    }
    const over = this.#over(nowMs);
    if (over.length > 0) await this.#parts.store.remove(over);
    this.#keys = this.#keys.filter(({ id }) => !over.includes(id));
  }

  async #read(): Promise<{ newest: string; nowMs: number }> {
    const { texts, newest, nowMs } = await this.#parts.store.read();
    for (const [id, text] of texts) await this.#seal(id, text);
    this.#offsetMs = nowMs - performance.now();
    const known = new Map(this.#keys.map((key) => [key.id, key]));
    const keys = await Promise.all(
      [...texts].map(async ([id, text]) => known.get(id) ?? readStoredKey(id, text, this.#parts.secrets)),
    );
    for (const { id, own } of keys) {
      if (own === null && !known.has(id)) this.#parts.logger.warn({ key: id }, 'key is sealed with another secret');
    }
    this.#keys = keys.sort((a, b) => a.fromMs - b.fromMs);
    return { newest, nowMs };
  }

  /** Seals a key that is stored unsealed. Otherwise it would stay readable for as long as it signs: a month. */
  async #seal(id: string, before: string): Promise<void> {
    const stored = sealedAnew(id, before, this.#parts.secrets);
    if (stored === null) return;
    await this.#parts.store.reseal(id, { before, stored });
    this.#parts.logger.info({ key: id }, 'key was stored as it is, and is sealed now');
  }

  /** Returns when the key that must be made now begins to sign; null if none must be made. */
  #nextFromMs(nowMs: number): number | null {
    const { keyMs, overlapMs } = this.#parts;
    const last = this.#keys.findLast(isOwn);
    if (last === undefined) return nowMs;
    const endMs = last.fromMs + keyMs;
    return nowMs >= endMs - overlapMs ? Math.max(endMs, nowMs + overlapMs) : null;
  }

  /** Returns the keys whose successor has signed for the overlap. */
  #over(nowMs: number): string[] {
    const own = this.#keys.filter(isOwn);
    return this.#keys
      .filter(({ fromMs }) => {
        const successor = own.find((other) => other.fromMs > fromMs);
        return successor !== undefined && nowMs > successor.fromMs + this.#parts.overlapMs;
      })
      .map(({ id }) => id);
  }
}
