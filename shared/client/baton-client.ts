import { BatonError } from '../contract/errors.ts';
import type { EventData } from '../contract/events.ts';
import { looksOf } from '../contract/vocabulary/device-names.ts';
import { makeAccountCalls, makeDevices } from './account/account.ts';
import type { BatonClient, BatonClientOptions, ClientEvents, ConnectionState, SignedOutReason } from './api.ts';
import { BatonClientError } from './errors/baton-client-error.ts';
import { type Caller, makeCaller } from './http/caller.ts';
import { makeClipboardNews } from './account/clipboard-news.ts';
import { systemClock, untilAborted } from './time/clock.ts';
import type { StreamedEvent } from './events.ts';
import { makeEmitter } from './emitter.ts';
import { abortedBy, failureOf, signedOut } from './errors/failure.ts';
import { makeMessages } from './account/messages.ts';
import { platformFetch } from './http/request.ts';
import { makeSessionKeeper, type SessionKeeper } from './session/session-keeper.ts';
import { makeStream } from './stream/stream.ts';
import type { StreamEvent } from './stream/stream-event.ts';
import type { StreamState } from './stream/stream-state.ts';
import { makeTransfers } from './transfers/transfers.ts';

function stateOf(stream: StreamState['state']): ConnectionState {
  if (stream === 'open') return 'online';
  return stream === 'waiting' || stream === 'refused' ? 'offline' : stream;
}

const closed = (): BatonClientError => new BatonClientError('aborted', 'The client was closed');

/** The types of the options, which are checked for programs in JavaScript. */
const OPTIONS: Readonly<Record<string, string>> = {
  baseUrl: 'string or function',
  session: 'object',
  headers: 'object or function',
  fetch: 'function',
  liveName: 'string',
  sha256: 'function',
  peerToPeer: 'object',
  lastEventId: 'string',
};

function checkOptions(options: BatonClientOptions): void {
  for (const [name, value] of Object.entries({ ...options, baseUrl: options?.baseUrl ?? null })) {
    const type = Object.hasOwn(OPTIONS, name) ? (OPTIONS[name] as string) : 'option';
    // The type of null would be that of an object.
    const fits = value === undefined || type.includes(typeof (value ?? 0));
    if (!fits) throw new BatonClientError('invalid_request', `${name} is no ${type}`);
  }
}

/**
 * Makes the client of one device: its stream, its calls and its files. It does nothing before `start` or a call. Throws
 * `invalid_request`.
 */
export function makeBatonClient(options: BatonClientOptions): BatonClient {
  checkOptions(options);
  const { baseUrl, headers, liveName, lastEventId, session: store, fetch = platformFetch } = options;
  const clock = systemClock;
  let state: ConnectionState = 'stopped';
  let life = new AbortController();
  /** Ends requests once the session is over. A client that was closed may make further requests. */
  const session = new AbortController();
  let deviceId: string | null = null;
  let isFirst = true;
  /** Null: the session is not kept alive. */
  let stopKeeping: (() => void) | null = null;
  /** The stream was refused, and was requested once more at once. */
  let isTriedAgain = false;

  /** Ignores what a listener of problems throws, because nobody else can be told. */
  const emitter = makeEmitter<ClientEvents>((error, name) => name === 'problem' || onProblem(error));
  function onProblem(error: unknown): void {
    const problem = failureOf(error);
    if (session.signal.aborted || problem.code === 'aborted') return;
    if (problem.action === 'sign-in' && keeper !== null) return;
    emitter.emit('problem', problem);
  }

  const keeper: SessionKeeper | null =
    store === undefined ? null : makeSessionKeeper({ store, baseUrl, headers, fetch, clock, onEnded, onProblem });
  const caller: Caller = makeCaller({ baseUrl, headers, fetch, clock, keeper, signal: () => session.signal });
  const repeated = { clock, life: () => life.signal, onProblem };
  const devices = makeDevices(caller, emitter, repeated);
  const clipboard = makeClipboardNews(caller, emitter, repeated);
  const messages = makeMessages({
    ...{ caller, repeated },
    isOnline: () => state === 'online',
    deviceNamed: (wanted) => devices.api.known.find(({ name }) => looksOf(name) === looksOf(wanted))?.device_id,
  });
  const transfers = makeTransfers({
    ...{ ...repeated, options, caller, emitter, start },
    presence: () => devices.api.presence,
    deviceId: () => deviceId,
  });

  function report(next: ConnectionState): void {
    if (state === next || state === 'signed-out') return;
    state = next;
    emitter.emit('state', next);
  }

  /** Ends everything at once, and reports it once. */
  function onEnded(reason: SignedOutReason): void {
    report('signed-out');
    session.abort(signedOut());
    life.abort(signedOut());
    stopKeeping?.();
    void stream.stop();
    emitter.emit('signed-out', reason);
  }

  async function onRefused(error: unknown): Promise<void> {
    await caller.mend(error, keeper?.token() ?? null);
    // Only once in a row: a stream that is refused after that is retried at its usual pace, whatever calls report
    // meanwhile.
    if (!isTriedAgain) stream.retryNow();
    isTriedAgain = true;
  }

  /** Returns the headers of the stream. Reports a lasting error that keeps the stream from being requested. */
  async function streamHeaders(base: string): Promise<Record<string, string>> {
    try {
      return await caller.headers(base);
    } catch (error) {
      if (failureOf(error).action === 'tell-user') onProblem(error);
      throw error;
    }
  }

  function onReady({
    resumed,
    presence,
    device,
    clipboard: found,
  }: Extract<StreamEvent, { name: 'ready' }>['data']): void {
    deviceId = device?.device_id ?? null;
    const anew = !resumed || isFirst;
    isFirst = false;
    devices.onPresence(presence.devices);
    if (anew) devices.refetch();
    if (anew) clipboard.onReady(found);
    transfers.onReady(anew && deviceId !== null);
  }

  const handlers: { [N in StreamEvent['name']]?: (data: EventData<N>) => void } = {
    ready: onReady,
    presence: (presence) => devices.onPresence(presence.devices),
    // A store that was away may have come back without the last steps of a transfer.
    restored: () => transfers.onReady(false),
    'device:added': devices.refetch,
    'device:renamed': devices.refetch,
    'device:removed': devices.refetch,
    'message:delivered': (delivered) => emitter.emit('delivered', delivered),
    clipboard: clipboard.onChange,
    'clipboard:cleared': () => clipboard.onChange(null),
    'transfer:incoming': transfers.onIncoming,
    'transfer:updated': transfers.onUpdated,
    'relay:rewind': transfers.onRewind,
    signal: transfers.onSignal,
    'session:revoked': ({ reason }) => (keeper === null ? onEnded(reason) : void keeper.end(reason)),
  };

  function onEvent(event: StreamEvent): void {
    if (event.name === 'ready' && keeper?.isFor(event.data.device) === false) {
      // Nothing of another user's stream is handed out.
      void stream.stop();
      return void keeper.end('expired');
    }
    emitter.emit('event', { name: event.name, data: event.data, id: event.id } as StreamedEvent);
    // Messages have their own memory, because one that was not taken, or not acknowledged, is handed out again.
    if (event.name === 'message') return messages.onMessage(event.data);
    if (!event.duplicate) (handlers[event.name] as ((data: unknown) => void) | undefined)?.(event.data);
  }

  const stream = makeStream({
    ...{ baseUrl, fetch, clock, dropDuplicates: false, onEvent, onProblem },
    headers: streamHeaders,
    ...{ query: { name: liveName }, lastEventId },
    onState(now) {
      report(stateOf(now.state));
      if (now.state === 'open') {
        isTriedAgain = false;
        caller.accepted();
      }
      if (now.state === 'refused' && now.error instanceof BatonError) onRefused(now.error).catch(onProblem);
    },
  });

  function start(): void {
    if (state === 'signed-out') throw signedOut();
    if (life.signal.aborted) life = new AbortController();
    // The state may still be that before an earlier `close`.
    stopKeeping ??= keeper?.keepAlive() ?? null;
    stream.start();
    // Without a session there is no stream to wait for, so the client reports that it is signed out.
    keeper
      ?.current()
      .then((known) => (known === null ? keeper.end('logout') : undefined))
      .catch(onProblem);
  }

  const calls = makeAccountCalls(caller, async () => (await keeper?.current())?.origins ?? []);
  return {
    ...calls,
    async me(settings) {
      const me = await calls.me(settings);
      await keeper?.learn(me).catch(onProblem);
      return me;
    },
    start,
    async close() {
      life.abort(closed());
      // A read that failed is no longer repeated, so a client that starts again reads everything.
      isFirst = true;
      stopKeeping?.();
      stopKeeping = null;
      await stream.stop();
    },
    get state() {
      return state;
    },
    get lastEventId() {
      return stream.lastEventId;
    },
    ...{ on: emitter.on, once: emitter.once, off: emitter.off },
    async untilOnline({ signal } = {}) {
      let off = (): void => {};
      const online = new Promise<void>((resolve, reject) => {
        const look = (now: ConnectionState) => {
          if (now === 'online') resolve();
          else if (now === 'signed-out') reject(signedOut());
        };
        off = emitter.on('state', look);
        look(state);
      });
      await untilAborted(online, signal)
        .catch((error: unknown) => {
          throw signal?.aborted ? abortedBy(signal) : error;
        })
        .finally(off);
    },
    session: async () => keeper?.current() ?? null,
    async signOut(settings = {}) {
      try {
        await caller.call('logOut', settings);
      } catch (error) {
        // The stream may have reported the end before the response came.
        if (!session.signal.aborted) throw error;
      }
      await keeper?.end('logout');
    },
    devices: devices.api,
    messages: messages.api,
    transfers: transfers.api,
  };
}
