import type { EndedSession } from '../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Deletion, MaybeProof } from '../../../shared/contract/modules/keys.ts';
import type { RevokedReason } from '../../../shared/contract/modules/sessions.ts';
import type { Devices } from '../devices/devices.ts';
import type { Caller } from '../identity/caller.ts';
import type { Db } from '../redis/db.ts';
import type { BrokerClient } from './auth-broker/broker-client.ts';
import { makeRemoval } from './revocation/removal.ts';
import { Revocations } from './revocation/revocations.ts';
import { makeSessionHandlers } from './routes.ts';
import { makeRowSessions } from './rows/row-sessions.ts';
import { makeSessionRows } from './rows/rows.ts';
import { makeSessionCookie } from './session-answer.ts';
import { makeSessions, type SessionsParts } from './sessions.ts';
import { makeSessionStore } from './store.ts';

type RevocationsParts = ConstructorParameters<typeof Revocations>[0];

/** The most rounds: the second is for transfers that were offered during the first, and the third is a reserve. */
const ERASE_ROUNDS = 3;

interface SessionsModuleParts {
  db: Db;
  /** Null without an auth broker. */
  broker: BrokerClient | null;
  devices: Pick<Devices, 'admit' | 'rows' | 'remove' | 'online'>;
  settings: {
    onceSeconds: number;
    persistSeconds: number;
    publicUrl: string;
    loginUrl: string | null;
    /** Whether callers are believed (identity `dev`). */
    believesCallers: boolean;
  };
  /** Returns the channels of all replicas, and publishes there, also again. */
  bus: Pick<RevocationsParts, 'channels' | 'publish' | 'repeat'>;
  /** Ends the streams of a signed-out device (or of a session without one), and forgets the cached answers about it. */
  onRevoked: (account: string, deviceId: string | null, reason: RevokedReason, sessionId: string | null) => void;
  /** Called when a mint ended the earlier secrets of a device's session: see `Revocations.tellReplaced`. */
  onReplaced: (account: string, deviceId: string, endsStreams: boolean) => void;
  /** The steps of other modules for a removed device. Each may be repeated. */
  onRemoved: ((account: string, deviceId: string) => Promise<unknown>)[];
  /** Ends the account's transfers and removes them, including from the relay. May be repeated. */
  eraseTransfers: (account: string) => Promise<void>;
  /** The steps of other modules for an erased account. Each may be repeated. */
  onErased: ((account: string) => Promise<unknown>)[];
  /**
   * Resolves to null if the account may be erased now. Else announces the erasure, and resolves to the announcement.
   */
  allowErase: (caller: Caller, asked: MaybeProof) => Promise<Deletion | null>;
  /** Called when a device has renewed its session. */
  onShown: SessionsParts['onShown'];
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  onFailure: (task: string, error: unknown) => void;
}

export function makeSessionsModule(parts: SessionsModuleParts) {
  const { db, broker, devices, settings, bus, onRevoked, onReplaced, onRemoved, scheduleDue, onFailure } = parts;
  const store = makeSessionStore({ ...db, scheduleDue });
  const revocations = new Revocations({ store, ...bus, onRevoked, onReplaced, onFailure });
  const removal = makeRemoval({ store, revocations, broker, onRemoved, removeRow: devices.remove });
  const rows = makeSessionRows({ devices, revocations, removal, broker, nowMs: store.nowMs, scheduleDue });
  /**
   * Erases an account. May be repeated after a failure at any point. Transfers end first, while their parties can get the
   * event. A transfer that was offered meanwhile ends in a second round; after the first, no device is left to offer one.
   * The other modules clean up after the devices are removed, so that nothing is written for devices afterwards.
   */
  async function erase(account: string): Promise<void> {
    for (let round = 1; ; round++) {
      await parts.eraseTransfers(account);
      if (await store.erase(account)) break;
      if (round === ERASE_ROUNDS) throw new BatonError('store_unavailable', 'Transfers are offered all the time');
    }
    for (const clear of parts.onErased) await clear(account);
  }
  const isByRow = broker === null && settings.believesCallers;
  const startByRow = isByRow ? makeRowSessions({ devices, revocations, nowMs: store.nowMs }) : null;
  const sessions = makeSessions({
    broker,
    startByRow,
    devices,
    rows,
    removal,
    revocations,
    erase,
    onShown: parts.onShown,
    nowMs: store.nowMs,
    onlineDevices: devices.online,
    onceSeconds: settings.onceSeconds,
    persistSeconds: settings.persistSeconds,
  });
  const cookie = makeSessionCookie({ isSecure: settings.publicUrl.startsWith('https:') });
  const { publicUrl, loginUrl } = settings;
  return {
    store,
    revocations,
    rows,
    cookie,
    removal,
    onReplaced,
    kept: sessions.kept,
    /** Erases an account whose announced erasure is due. */
    eraseDue: (account: string) => sessions.erase({ account, userId: decodeURIComponent(account) }),
    /** Handles a session that the auth broker reported as ended, maybe not by us. */
    ended(session: EndedSession): void {
      rows.end(session).catch((error: unknown) => onFailure('end session', error));
    },
    handlers: makeSessionHandlers({ sessions, allowErase: parts.allowErase, cookie, publicUrl, loginUrl }),
  };
}

export type SessionsModule = ReturnType<typeof makeSessionsModule>;
