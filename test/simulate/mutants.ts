import type { MODELS } from '../models/mutants.mjs';

/** A fault in the code of the replicas that the simulation has to find. */
export interface Mutant {
  title: string;
  file: string;
  /** Occurs exactly once in the file. */
  from: string;
  to: string;
  /** The promise that breaks. */
  breaks: string;
  /** The first of the twelve seeds to try, and so far the one that finds it. Undefined: 1. */
  firstSeed?: number;
  /** The same fault in a model (`test/models/mutants.mjs`), if there is one. */
  model?: { name: keyof typeof MODELS; title: string };
}

const LOSS = 'what was acknowledged is seen, or covered by a reset with a cause';
const ARRIVES = 'a relayed file arrives whole';
const STEPS = 'a transfer takes the steps of its model';
const RELAY_STEPS = 'a file of the relay takes the steps of its model';
const RING_STEPS = 'a ring is put by the steps of its model';
const SIGNALS = 'signals of a transfer come to its other party alone, once and in order';
const LOGIN_STEPS = 'a login request takes the steps of its model';
const LEASE_STEPS = 'a lease takes the steps of its model';

export const MUTANTS: readonly Mutant[] = [
  {
    title: 'an attach replays nothing of what the stream missed',
    file: 'services/sync/streams/prelude/position.lua',
    from: "if stale or not addressed(field(entry, 't'), device) then",
    to: 'if true then',
    breaks: LOSS,
    model: { name: 'join', title: 'an attach replays nothing of what the stream missed' },
  },
  {
    title: 'a message is announced and stands in no log',
    file: 'services/sync/messages/lua/message-accept.lua',
    from: "local id, prev = append(keys.log, now, random, 'message', to, #holders > 0 and message_id or json .. ending)",
    to: "local last = redis.call('XREVRANGE', keys.log, '+', '-', 'COUNT', '1')[1]\n  local id, prev = int(now) .. '-' .. random, last and last[1] or ''",
    breaks: LOSS,
  },
  {
    title: 'an event is taken whatever came before it',
    file: 'services/sync/streams/delivery/delivery.ts',
    from: 'event.prev === stream.position.id',
    to: '!stream.position.saw(event.id)',
    breaks: LOSS,
    firstSeed: 3,
    model: { name: 'join', title: 'an event is taken whatever came before it' },
  },
  {
    title: 'a repeated call is carried out again',
    file: 'services/sync/redis/prelude/operation.lua',
    from: 'if not stored then return nil end',
    to: 'if true then return nil end',
    breaks: 'one thing has one id',
    firstSeed: 3,
  },
  {
    title: 'a call that was sent again is carried out again',
    file: 'services/sync/redis/prelude/operation.lua',
    from: 'if not resent_after_ms then return nil end',
    to: 'if true then return nil end',
    breaks: 'one thing has one id',
    firstSeed: 19,
  },
  {
    title: 'ids follow the clock alone',
    file: 'services/sync/redis/prelude/log.lua',
    from: 'ms = math.max(now, prev_ms + 1)',
    to: 'ms = now',
    breaks: 'ids rise',
    firstSeed: 3,
  },
  {
    title: 'nobody reaps',
    file: 'services/sync/composition/events.ts',
    from: 'reaper.run();',
    to: 'void reaper;',
    breaks: 'presence is right after quiet, and never calls the present absent',
    firstSeed: 2,
    model: { name: 'lease', title: 'nobody reaps' },
  },
  {
    title: 'a replica that lost its lease keeps its id',
    file: 'services/sync/replicas/replica.ts',
    from: "if (!table.renewed) await this.#takeNewId('lease lost');",
    to: '',
    breaks: 'presence is right after quiet, and never calls the present absent',
    firstSeed: 34,
    model: { name: 'lease', title: 'a renewal makes a lost lease anew' },
  },
  {
    title: 'a claim does not compare the counter',
    file: 'services/sync/replicas/lua/lease-reap.lua',
    from: "if redis.call('HGET', keys.replicas, dead) ~= counter then return { 'OK', '0' } end",
    to: '',
    breaks: LEASE_STEPS,
    firstSeed: 2,
    model: { name: 'lease', title: 'a claim does not compare the counter' },
  },
  {
    title: 'a renewal makes a lost lease anew',
    file: 'services/sync/replicas/lua/lease-renew.lua',
    from: 'if renewed == 1 then redis.call',
    to: 'if true then redis.call',
    breaks: LEASE_STEPS,
    model: { name: 'lease', title: 'a renewal makes a lost lease anew' },
  },
  {
    title: 'all accounts have one log',
    file: 'services/sync/redis/keys.ts',
    from: 'return this.prefix + part;',
    to: "return part === 'log' ? 'simulate:{all}:log' : this.prefix + part;",
    breaks: 'nobody hears of another account',
  },
  {
    title: 'a transfer that is over goes on from device to device',
    file: 'services/sync/transfers/lua/transfer-act.lua',
    from: "p2p = not final and 'P2P_ACTIVE' or nil,",
    to: "p2p = 'P2P_ACTIVE',",
    breaks: STEPS,
    firstSeed: 2,
    model: { name: 'transfer', title: 'a transfer that is over goes on from device to device' },
  },
  {
    title: 'a rejection that comes after an end is answered as one',
    file: 'services/sync/transfers/lua/transfer-act.lua',
    from: `reject = state == 'CANCELLED' and string.find(t.error, '"code":"rejected"', 1, true) ~= nil,`,
    to: 'reject = final,',
    breaks: STEPS,
    firstSeed: 2,
    model: { name: 'transfer', title: 'a rejection that comes after an end is answered as one' },
  },
  {
    title: 'another device takes a step',
    file: 'services/sync/transfers/lua/transfer-act.lua',
    from: "if not allowed[action] then return { 'not_a_party' } end",
    to: "if not allowed[action] and (by_sender or by_receiver) then return { 'not_a_party' } end",
    breaks: STEPS,
    firstSeed: 2,
    model: { name: 'transfer', title: 'another device takes a step' },
  },
  {
    title: 'a replica that stops cuts its streams without a word',
    file: 'services/sync/streams/upkeep/closing.ts',
    from: "stream.end('draining', spreadRetryMs(500, 3_000));",
    to: 'stream.socket.destroy();',
    breaks: 'replicas end as they should',
    firstSeed: 5,
  },
  {
    title: 'a page goes on behind an event that a slow reader could not take',
    file: 'services/sync/streams/delivery/catch-up.ts',
    from: '      if (!stream.socket.writable) return false;\n      stream.position.advance(id);',
    to: '      stream.position.advance(id);\n      if (!stream.socket.writable) return false;',
    breaks: LOSS,
  },
  {
    title: 'the sweep compares nothing',
    file: 'services/sync/streams/upkeep/repair.ts',
    from: 'const isBehind = top !== id && (id === positionBefore || !stream.position.saw(top));',
    to: "const isBehind = top === '' && id === positionBefore;",
    breaks: 'what was announced to nobody is found',
    model: { name: 'join', title: 'the sweep compares nothing' },
  },
  {
    title: 'a rewind begins behind what its reader lacks',
    file: 'services/sync/relay/generations.ts',
    from: 'await store.create(file, next, offset)',
    to: 'await store.create(file, next, offset + 1)',
    breaks: ARRIVES,
    model: { name: 'relay', title: 'a rewind begins behind what its reader lacks' },
  },
  {
    title: 'nobody notes that a range was skipped',
    file: 'services/sync/relay/lua/relay-open.lua',
    from: "'skips', tonumber(from) > tonumber(s[5]) and '1' or '0')",
    to: "'skips', '0')",
    breaks: RELAY_STEPS,
    model: { name: 'relay', title: 'nobody notes that a range was skipped' },
  },
  {
    title: 'a receiver takes what lies behind a gap',
    file: 'services/sync/relay/download/receiver.ts',
    from: 'this.#hasGap ||= !this.isAtEnd && start > this.#position;',
    to: 'this.#position = Math.max(this.#position, start);',
    firstSeed: 44,
    breaks: ARRIVES,
    model: { name: 'relay', title: 'a receiver takes what lies behind a gap' },
  },
  {
    title: 'a rewind forgets that a range was skipped',
    file: 'services/sync/relay/lua/relay-create.lua',
    from: 'local skips = s[4] and tonumber(s[4]) < tonumber(base)',
    to: 'local skips = false',
    breaks: RELAY_STEPS,
    firstSeed: 5,
    model: { name: 'relay', title: 'a rewind forgets that a range was skipped' },
  },
  {
    title: 'a ring with the number in force counts as the same one again',
    file: 'services/sync/keys/lua/keyring-put.lua',
    from: "local is_again = top == n and redis.call('HGET', keys.keyring, 'hash') == hash",
    to: 'local is_again = top == n',
    breaks: RING_STEPS,
    firstSeed: 2,
    model: { name: 'keyring', title: 'a ring with the number in force counts as the same one again' },
  },
  {
    title: 'a ring is put over another that follows the same one',
    file: 'services/sync/keys/lua/keyring-put.lua',
    from: 'if top ~= n - 1 or not is_checked then',
    to: 'if top > n then',
    breaks: RING_STEPS,
    firstSeed: 2,
    model: { name: 'keyring', title: 'nothing is compared: the last one wins' },
  },
  {
    title: 'a lease is ended whatever its fencing number',
    file: 'services/sync/signin/lua/login-finish.lua',
    from: 'if not login or login.fence ~= fence then',
    to: 'if not login then',
    breaks: LOGIN_STEPS,
    firstSeed: 7,
    model: { name: 'login', title: 'a lease is ended whatever its fencing number' },
  },
  {
    title: 'a device that is no party signals for a transfer',
    file: 'services/sync/signals/lua/signal-send.lua',
    from: "if not between then return { 'not_a_party' } end",
    to: '',
    breaks: SIGNALS,
  },
];
