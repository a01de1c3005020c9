import type { Redis } from 'ioredis';
import { bindScript, type Settings } from '../../../shared/service-kit/redis/scripts/bound-script.ts';
import type { Given, ScriptDeclaration } from '../../../shared/service-kit/redis/scripts/script.ts';
import type { Raw } from '../../../shared/service-kit/redis/scripts/script-values.ts';

/**
 * The time of the store while scripts run here. With a clock that stands still, a test meets a limit to the millisecond. It is
 * the year 2095, so that a key that expires at a time by this clock is still there.
 */
export const NOW = 3_960_000_000_000;

export interface Announcement {
  channel: string;
  label: string;
  payload: string;
}

/** A script adds this to its reply: its announcements, and whether an earlier copy of the call was carried out. */
interface Said {
  announced: Announcement[];
  isRepeated?: true;
}

/** Takes the announcements off a reply. As in a cluster, nothing is published, so the reply has all of them. */
function takeSaid(reply: Raw[]): Said {
  const said = reply.pop() as string | [string, string, string[]];
  const [, repeated, flat] = typeof said === 'string' ? ['', '0', []] : said;
  const found: Announcement[] = [];
  for (let i = 0; i < flat.length; i += 3) {
    const [channel = '', label = '', payload = ''] = flat.slice(i, i + 3);
    found.push({ channel, label, payload });
  }
  return { announced: found, ...(repeated === '1' && { isRepeated: true }) };
}

/**
 * Returns a call of a script in the store, whose clock says NOW. Each copy of the call has the same words. The error of a
 * refusal has what the script said too.
 */
export function callOf<K extends string, A, R, S extends string>(
  redis: Redis,
  declaration: ScriptDeclaration<K, A, R, S>,
  settings: Settings<S> | [],
  on: Readonly<Record<K, string>>,
  args: Given<A>,
): (resentAfterMs?: number) => Promise<R & Said> {
  const bound = bindScript(declaration, false, settings);
  const text = bound.text.replaceAll("redis.call('TIME')", `{ ${NOW / 1000}, 0 }`);
  const words = bound.words(on, args);
  return async (resentAfterMs) => {
    const sent = words.map((word, i) => (i === bound.resentAt && resentAfterMs !== undefined ? resentAfterMs : word));
    const reply = (await redis.eval(text, bound.keyCount, ...sent)) as Raw[];
    const said = declaration.announces ? takeSaid(reply) : { announced: [] };
    try {
      return { ...bound.read(reply), ...said };
    } catch (error) {
      throw Object.assign(error as Error, said);
    }
  };
}

/** Runs a script once, at NOW. */
export const runScript = <K extends string, A, R, S extends string>(...call: Parameters<typeof callOf<K, A, R, S>>) =>
  callOf(...call)();
