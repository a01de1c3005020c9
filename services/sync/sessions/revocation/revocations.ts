import { REVOKED_REASONS, type RevokedReason } from '../../../../shared/contract/modules/sessions.ts';
import type { Announcement } from '../../redis/bus/announcer.ts';
import { payloadOf } from '../../redis/bus/payloads.ts';
import { TOMBSTONE_MS } from '../scripts.ts';
import type { SessionStore, Tombstone } from '../store.ts';

/** How long before the newest known tombstone a changed list is read from, because clocks differ after a failover. */
const OVERLAP_MS = 600_000;

interface RevocationsParts {
  store: SessionStore;
  /** Returns the channels of the replicas that were alive at the last lease renewal, for when the store is unreachable. */
  channels: () => string[];
  publish: (channel: string, payload: string) => Promise<number>;
  /** Publishes again a few times, until somebody hears it. */
  repeat: (announcement: Announcement, outcome: 'unheard' | 'failed') => void;
  /** Called when a device, or a session without one, is first known here as signed out, so that its streams end. */
  onRevoked: (account: string, deviceId: string | null, reason: RevokedReason, sessionId: string | null) => void;
  /** Called when a mint ended the earlier secrets of a device's session, on this replica or another. */
  onReplaced: (account: string, deviceId: string, endsStreams: boolean) => void;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * The devices that were signed out during the last day, in memory, because every request asks. A revocation is announced to
 * every replica. A replica that missed it sees with its next lease renewal, at most 2 s later, that the list has a new
 * version, and reads it. If the store loses a tombstone that is known here, the replica writes it back.
 */
export class Revocations {
  readonly #parts: RevocationsParts;
  /** account -> device -> when. */
  readonly #known = new Map<string, Map<string, number>>();
  #version = '';
  #newestMs = 0;
  /** The store's time at the latest renewal of the lease, or of a later announcement. */
  #nowMs = 0;
  #isReading = false;
  /** Whether a known tombstone has not been read from the list yet. A failover may lose it under the same version. */
  #isUnproved = false;

  constructor(parts: RevocationsParts) {
    this.#parts = parts;
  }

  /** Returns whether the device was signed out, as far as this replica knows. */
  isRevoked(account: string, deviceId: string): boolean {
    const atMs = this.#known.get(account)?.get(deviceId);
    return atMs !== undefined && atMs > this.#overMs;
  }

  /** Returns how many devices of the account were signed out, as far as this replica knows. */
  countOf(account: string): number {
    return this.#known.get(account)?.size ?? 0;
  }

  /** Resolves to whether the device was signed out, even if no announcement has reached this replica yet. */
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
    // A late repetition of the end of an expired session could end a stream of the session that came after it.
    await this.#announce(account, payloadOf('revoked', account, deviceId, reason, atMs), reason !== 'expired');
  }

  /** Ends the streams of a session without a device on every replica. It has no device id for a tombstone. */
  async tellSession(account: string, sessionId: string, reason: RevokedReason): Promise<void> {
    this.#parts.onRevoked(account, null, reason, sessionId);
    await this.#announce(account, payloadOf('revoked', account, '', reason, 0, sessionId));
  }

  /**
   * Announces that a mint ended all earlier secrets of the device's session, so that no replica believes them any longer.
   * `endsStreams`: somebody else may hold those secrets, so the streams that they opened end too.
   */
  async tellReplaced(account: string, deviceId: string, endsStreams: boolean): Promise<void> {
    this.#parts.onReplaced(account, deviceId, endsStreams);
    await this.#announce(account, payloadOf('replaced', account, deviceId, endsStreams ? '1' : '0'));
  }

  /**
   * Publishes to all replicas. It asks the store, because a replica that just started may have accepted callers already.
   * `isRepeated`: the payload is published again on each channel on which nobody heard it. Without a tombstone nothing
   * else would show the end.
   */
  async #announce(account: string, payload: string, isRepeated = true): Promise<void> {
    const { store, channels, publish, repeat, onFailure } = this.#parts;
    const failed = (error: unknown) => onFailure('announce revocation', error);
    const asked = await store.channelsOf(account).catch((error: unknown): string[] => {
      failed(error);
      return [];
    });
    const all = new Set([...channels(), ...asked]);
    const tell = async (channel: string): Promise<void> => {
      const heard = await publish(channel, payload).catch(failed);
      const outcome = heard === undefined ? 'failed' : 'unheard';
      if (isRepeated && !heard) repeat({ channel, label: 'revoked', payload }, outcome);
    };
    await Promise.all([...all].map(tell));
  }

  /** Takes an announcement with its store time. An expired session gets no tombstone, because it may be renewed. */
  heard(account: string, deviceId: string, word: string, atMs: number, sessionId = ''): void {
    const reason = REVOKED_REASONS.find((known) => known === word) ?? 'revoked';
    const isTombstoned = deviceId !== '' && reason !== 'expired';
    if (isTombstoned) this.#learn({ account, deviceId, atMs }, reason);
    else this.#parts.onRevoked(account, deviceId || null, reason, sessionId || null);
  }

  /** Reads the list if it has changed, and writes back what it lost. Called at every renewal of the lease. */
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
    // The store has fewer tombstones than are known here, so it lost older ones too.
    const allLost = sinceMs > 0 && count < this.#since(0).length ? (await this.#compare(0)).lost : lost;
    // Other replicas, including those that start later, must find the lost tombstones.
    this.#version = allLost.length > 0 ? (await store.addTombstones(allLost)).version : version;
  }

  /** Reads the tombstones since then. `lost`: those known here but not in the store. `count`: all in the store. */
  async #compare(sinceMs: number): Promise<{ lost: Tombstone[]; count: number }> {
    const { tombstones, count } = await this.#parts.store.tombstones(sinceMs, this.#overMs);
    for (const tombstone of tombstones) this.#merge(tombstone, 'revoked');
    // Expired ones are not written back, because the store would drop them and every replica would read the list again.
    this.#forgetOver();
    const members = new Set(tombstones.map(({ account, deviceId }) => `${account} ${deviceId}`));
    const lost = this.#since(sinceMs).filter(({ account, deviceId }) => !members.has(`${account} ${deviceId}`));
    return { lost, count };
  }

  /** Takes a tombstone that was not read from the list. The next read shows whether the list has kept it. */
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

  /** The time at or before which tombstones have expired. */
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
