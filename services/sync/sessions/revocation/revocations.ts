import { REVOKED_REASONS, type RevokedReason } from '../../../../shared/contract/modules/sessions.ts';
import { payloadOf } from '../../redis/bus/payloads.ts';
import { TOMBSTONE_MS } from '../scripts.ts';
import type { SessionStore, Tombstone } from '../store.ts';

/** A changed list is read from so long before the newest known tombstone, because clocks differ after a failover. */
const OVERLAP_MS = 600_000;

interface RevocationsParts {
  store: SessionStore;
  /** Channels of the replicas that were alive at the last beat: for when the store cannot be asked. */
  channels: () => string[];
  publish: (channel: string, payload: string) => Promise<number>;
  /** Called when a device, or a session without a device, is first known here as signed out: its streams end. */
  onRevoked: (account: string, deviceId: string | null, reason: RevokedReason, sessionId: string | null) => void;
  /** Called when a mint ended the secrets of a device's session before it, on this replica or another. */
  onReplaced: (account: string, deviceId: string, endsStreams: boolean) => void;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * The devices that were signed out during the last day: in memory, since every request asks. A revocation is announced to
 * every replica. One that missed it sees with its next lease renewal, at most 2 s later, that the list has a new version,
 * and reads it. What is known here is never forgotten because the store lost it: it is written back.
 */
export class Revocations {
  readonly #parts: RevocationsParts;
  /** account -> device -> when. */
  readonly #known = new Map<string, Map<string, number>>();
  #version = '';
  #newestMs = 0;
  /** The store's time, as of the latest renewal of the lease or what was heard since. */
  #nowMs = 0;
  #isReading = false;
  /** A tombstone is known here that was not read from the list yet: a failover may lose it under the same version. */
  #isUnproved = false;

  constructor(parts: RevocationsParts) {
    this.#parts = parts;
  }

  /** Whether the device was signed out, as far as this replica knows. */
  isRevoked(account: string, deviceId: string): boolean {
    const atMs = this.#known.get(account)?.get(deviceId);
    return atMs !== undefined && atMs > this.#overMs;
  }

  /** How many devices of the account were signed out, as far as this replica knows. */
  countOf(account: string): number {
    return this.#known.get(account)?.size ?? 0;
  }

  /** Whether the device was signed out, also if no announcement has reached this replica yet. */
  async isTombstoned(account: string, deviceId: string): Promise<boolean> {
    return this.isRevoked(account, deviceId) || (await this.#parts.store.isTombstoned(account, deviceId, this.#overMs));
  }

  /** Signs a device out everywhere: tombstone, then the streams of every replica. Throws `store_unavailable`. */
  async revoke(account: string, deviceId: string, reason: RevokedReason): Promise<void> {
    const { nowMs } = await this.#parts.store.addTombstones([{ account, deviceId, atMs: 0 }]);
    this.#learn({ account, deviceId, atMs: nowMs }, reason);
    await this.tell(account, deviceId, reason, nowMs);
  }

  /** Ends the streams of a device on every replica. */
  async tell(account: string, deviceId: string, reason: RevokedReason, atMs = 0): Promise<void> {
    this.#parts.onRevoked(account, deviceId, reason, null);
    await this.#announce(account, payloadOf('revoked', account, deviceId, reason, atMs));
  }

  /** Ends the streams of a session without a device on every replica. There is no tombstone: no device id could be refused. */
  async tellSession(account: string, sessionId: string, reason: RevokedReason): Promise<void> {
    this.#parts.onRevoked(account, null, reason, sessionId);
    await this.#announce(account, payloadOf('revoked', account, '', reason, 0, sessionId));
  }

  /**
   * A mint ended every secret of the device's session before it: no replica may believe them any longer. `endsStreams`: who
   * held them may be somebody else, so what they opened ends too.
   */
  async tellReplaced(account: string, deviceId: string, endsStreams: boolean): Promise<void> {
    this.#parts.onReplaced(account, deviceId, endsStreams);
    await this.#announce(account, payloadOf('replaced', account, deviceId, endsStreams ? '1' : '0'));
  }

  /** The store is asked who is there: a replica that started since the last beat may have believed somebody already. */
  async #announce(account: string, payload: string): Promise<void> {
    const { store, channels, publish, onFailure } = this.#parts;
    const failed = (error: unknown) => onFailure('announce revocation', error);
    const asked = await store.channelsOf(account).catch((error: unknown): string[] => {
      failed(error);
      return [];
    });
    const all = new Set([...channels(), ...asked]);
    await Promise.all([...all].map((channel) => publish(channel, payload).catch(failed)));
  }

  /** Takes what another replica announced, at a time of the store. An expired session has no tombstone: it may be renewed. */
  heard(account: string, deviceId: string, word: string, atMs: number, sessionId = ''): void {
    const reason = REVOKED_REASONS.find((known) => known === word) ?? 'revoked';
    const isTombstoned = deviceId !== '' && reason !== 'expired';
    if (isTombstoned) this.#learn({ account, deviceId, atMs }, reason);
    else this.#parts.onRevoked(account, deviceId || null, reason, sessionId || null);
  }

  /** Called with every renewal of the lease: reads the list when it has changed, and writes back what it has lost. */
  note(version: string, nowMs: number): void {
    this.#nowMs = nowMs;
    if (version === this.#version && version !== '' && !this.#isUnproved) return;
    if (version === '' && this.#known.size === 0) return;
    if (this.#isReading) return;
    this.#isReading = true;
    this.#isUnproved = false;
    this.#read(version)
      .catch((error: unknown) => {
        this.#isUnproved = true;
        this.#parts.onFailure('read revocations', error);
      })
      .finally(() => {
        this.#isReading = false;
      });
  }

  async #read(version: string): Promise<void> {
    const { store } = this.#parts;
    const sinceMs = this.#version === '' ? 0 : this.#newestMs - OVERLAP_MS;
    const { lost, count } = await this.#compare(sinceMs);
    // The store has fewer than are known here, so it lost older ones too.
    const allLost = sinceMs > 0 && count < this.#since(0).length ? (await this.#compare(0)).lost : lost;
    // Other replicas, and those that start later, must find them.
    this.#version = allLost.length > 0 ? (await store.addTombstones(allLost)).version : version;
  }

  /** Reads the tombstones since then. `lost`: known here and not in the store. `count`: of all in the store. */
  async #compare(sinceMs: number): Promise<{ lost: Tombstone[]; count: number }> {
    const { tombstones, count } = await this.#parts.store.tombstones(sinceMs, this.#overMs);
    for (const tombstone of tombstones) this.#merge(tombstone, 'revoked');
    // Expired ones are not written back: the store would drop them at once, and every replica would read the list again.
    this.#forgetOver();
    const members = new Set(tombstones.map(({ account, deviceId }) => `${account} ${deviceId}`));
    const lost = this.#since(sinceMs).filter(({ account, deviceId }) => !members.has(`${account} ${deviceId}`));
    return { lost, count };
  }

  /** Takes a tombstone that was not read from the list. The next reading shows whether the list has kept it. */
  #learn(tombstone: Tombstone, reason: RevokedReason): void {
    this.#isUnproved = true;
    this.#nowMs = Math.max(this.#nowMs, tombstone.atMs);
    this.#merge(tombstone, reason);
  }

  #merge({ account, deviceId, atMs }: Tombstone, reason: RevokedReason): void {
    const devices = this.#known.get(account) ?? new Map<string, number>();
    const before = devices.get(deviceId);
    if (before !== undefined && before > this.#overMs) return;
    this.#known.set(account, devices.set(deviceId, atMs));
    this.#newestMs = Math.max(this.#newestMs, atMs);
    this.#parts.onRevoked(account, deviceId, reason, null);
  }

  #since(sinceMs: number): Tombstone[] {
    return [...this.#known].flatMap(([account, devices]) =>
      [...devices].filter(([, atMs]) => atMs >= sinceMs).map(([deviceId, atMs]) => ({ account, deviceId, atMs })),
    );
  }

  /** Tombstones of then, or earlier, are over. */
  get #overMs(): number {
    return this.#nowMs - TOMBSTONE_MS;
  }

  #forgetOver(): void {
    for (const { account, deviceId, atMs } of this.#since(0)) {
      if (atMs > this.#overMs) continue;
      this.#known.get(account)?.delete(deviceId);
      if (this.#known.get(account)?.size === 0) this.#known.delete(account);
    }
  }
}
