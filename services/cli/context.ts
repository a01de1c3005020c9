import {
  type BatonClient,
  checkService,
  type Device,
  makeBatonClient,
  type Session,
  type SessionStore,
} from '../../shared/client/index.ts';
import { fileSession, leanFetch, sha256 } from '../../shared/client/node.ts';
import { looksOf } from '../../shared/contract/vocabulary/device-names.ts';
import { CliError, EXIT, notSignedIn, usageError } from './failure.ts';
import { noticingRefusals } from './foreign-refusals.ts';
import { followEnd } from './leaving.ts';
import { makeOutput, type Output, oneLine } from './output.ts';
import { followAnnounced, noteRemovals } from './sealing.ts';
import { loadSettings, type Settings } from './settings.ts';
import { finishLeaving } from './sign-out.ts';
import { noteAddress } from './unused-proxy.ts';
import { tellingFetch } from './waiting.ts';

/** The context of every command. */
export interface Context {
  readonly output: Output;
  readonly settings: Settings;
  readonly session: SessionStore;
  /**
   * Aborted by Ctrl-C, SIGTERM and SIGHUP, and when something in front of the service refuses for too long. A second Ctrl-C
   * ends the process at once.
   */
  readonly signal: AbortSignal;
  /**
   * Runs `work` as the device that is signed in, and closes the client after it. Throws `notSignedIn`. `fetch` sends
   * the requests of the client.
   */
  withClient: WithClient;
  /** The same for a command that ends only when it is interrupted. It goes on for as long as its requests are refused. */
  withEndlessClient: WithClient;
  /** Completes the end of a session that a killed program has begun, as `withClient` does. False: there was none. */
  finishLeaving(): Promise<boolean>;
}

type WithClient = <T>(work: (baton: BatonClient, url: string) => Promise<T>, fetch?: typeof leanFetch) => Promise<T>;

const originOf = (url: string): string => {
  if (URL.canParse(url)) return new URL(url).origin;
  throw usageError(`${oneLine(url)} is not an address.`);
};

/**
 * Returns the session, bound to its service. A session of an older version does not name its service: it belongs to the
 * address that `login` kept, or to the default one. `BATON_URL` alone does not show where it was made.
 */
async function boundSession(session: SessionStore, settings: Settings): Promise<Session> {
  const bind = async (): Promise<Session> => {
    const known = await session.load();
    if (known === null) throw notSignedIn();
    if (known.origins !== undefined) return known;
    const madeAt = settings.keptUrl ?? (settings.givenUrl === null ? settings.url : null);
    if (madeAt === null) {
      const message = 'This session does not say of which service it is. Sign in again: `baton login --force`.';
      throw new CliError(message, { status: EXIT.signedOut, code: 'signed_out' });
    }
    const bound = { ...known, origins: [originOf(madeAt)] };
    await session.save(bound);
    return bound;
  };
  const known = await session.load();
  if (known === null) throw notSignedIn();
  return known.origins === undefined && session.lock ? session.lock(bind) : bind();
}

/** Returns the address of the service: `BATON_URL`, otherwise the address of the sign-in. */
function urlOf({ origins = [] }: Session, { givenUrl, keptUrl, url }: Settings): string {
  if (givenUrl !== null) return givenUrl;
  const isKept = keptUrl !== null && origins.includes(originOf(keptUrl));
  return isKept ? keptUrl : (origins[0] ?? url);
}

function untilInterrupted(): AbortController {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new CliError('Interrupted.', { status: EXIT.interrupted, code: 'aborted' }));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
  return controller;
}

export function makeContext({ json, progress }: { json?: boolean; progress?: boolean }): Context {
  const output = makeOutput({ isJson: json === true, tellsProgress: progress === true });
  const settings = loadSettings();
  const session = fileSession(settings.sessionPath);
  const ending = untilInterrupted();
  const { signal } = ending;
  const clientWith =
    (isEndless: boolean): WithClient =>
    async (work, fetch = leanFetch) => {
      const known = await boundSession(session, settings);
      const url = urlOf(known, settings);
      checkService(known, url);
      noteAddress(url);
      const giveUp = isEndless ? null : (error: CliError) => ending.abort(error);
      const refusals = noticingRefusals(fetch, { note: output.note, giveUp });
      const baton = makeBatonClient({ baseUrl: url, session, sha256, fetch: tellingFetch(output, refusals.fetch) });
      const noted = noteRemovals(own, baton, url);
      const toldAll = followAnnounced(own, baton, url);
      const ended = followEnd(own, baton, known.device?.device_id ?? null);
      try {
        return await work(baton, url);
      } catch (error) {
        throw refusals.explained(error);
      } finally {
        toldAll();
        await baton.close();
        await noted();
        await ended();
      }
    };
  const own = { output, settings, session, signal };
  const finish = () => finishLeaving({ ...own, withClient: clientWith(false) });
  const after =
    (withClient: WithClient): WithClient =>
    async (...given) => {
      await finish();
      return withClient(...given);
    };
  return {
    ...{ ...own, finishLeaving: finish },
    withClient: after(clientWith(false)),
    withEndlessClient: after(clientWith(true)),
  };
}

/** Never resolves. Rejects at sign-out, or when the command is interrupted. An endless command waits for it. */
export function untilOver({ signal }: Context, baton: BatonClient): Promise<never> {
  return new Promise((_, reject) => {
    const interrupted = () => reject(signal.reason as Error);
    if (signal.aborted) interrupted();
    signal.addEventListener('abort', interrupted, { once: true });
    baton.on('signed-out', () => reject(notSignedIn()));
    baton.on('state', (state) => {
      if (state === 'superseded') reject(tooManyPrograms());
    });
  });
}

const tooManyPrograms = (): CliError =>
  new CliError('Too many programs run on this device at once: four may be connected.', { code: 'superseded' });

/** Finds the device with that name or id, or with the only name that looks the same. The error lists all devices. */
export async function deviceNamed(baton: BatonClient, name: string, signal: AbortSignal): Promise<Device> {
  return deviceIn(await baton.devices.list({ signal }), name);
}

/** Does the same in a list of devices. */
export function deviceIn(devices: readonly Device[], name: string): Device {
  const loosely = devices.filter((each) => each.device_id === name || looksOf(each.name) === looksOf(name));
  const named = loosely.filter((each) => each.name === name || each.device_id === name);
  const [device] = [named, loosely].find((found) => found.length === 1) ?? [];
  if (device !== undefined) return device;
  const others = devices.map((each) => oneLine(each.name)).join(', ');
  const why = loosely.length > 1 ? 'Several devices are called' : 'There is no device called';
  throw new CliError(`${why} ${oneLine(name)}. There are: ${others}.`, { status: EXIT.notFound, code: 'not_found' });
}
