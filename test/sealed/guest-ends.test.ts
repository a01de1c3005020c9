import { freePort } from '../../deploy/local/setup/redis.mjs';
import { memoryKeys } from '../../shared/client/sealed.ts';
import { type LetIn, makeAsking, readKeyedLink } from '../../shared/client/sealing.ts';
import { readSignInLink, requestSignIn, type Session } from '../../shared/client/index.ts';
import { type KeyedDevice, makeKeyedDevice } from '../browser/keyed-device.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';

/* The keys of a guest end with its session, as long as the service makes sessions. */

const sites: SignInSite[] = [];
afterEach(() => Promise.all(sites.splice(0).map((site) => site.stop())));

/** The time of a response has whole seconds. */
const CLOSE_MS = 5_000;

/** Makes an account with keys at a service whose `once` sessions last this long. */
async function accountAt(seconds: number): Promise<{ url: string; laptop: KeyedDevice }> {
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const settings = { APP_PUBLIC_URL: url, APP_QR_GUEST_TTL_SECONDS: String(seconds) };
  const site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0', ...settings });
  sites.push(site);
  await site.startReplica({ APP_PORT: port });
  const laptop = makeKeyedDevice(site, url);
  await laptop.signIn('Laptop');
  await laptop.sealing().rings.create({ kind: 'cli' });
  return { url, laptop };
}

/** A device that asks to be let in. `comes` takes the session, and returns the end that the service has given it. */
async function visitor(baseUrl: string) {
  const kept: Session[] = [];
  const session = { load: () => kept.at(-1) ?? null, save: (made: Session) => void kept.push(made), clear: () => {} };
  const grant = { load: async () => null, save: async () => {}, clear: async () => {} };
  const asking = await makeAsking({ asking: memoryKeys(), grant });
  const about = { baseUrl, session, deviceName: 'Visitor', deviceType: 'linux', keys: asking.keys } as const;
  const request = await requestSignIn(about);
  const comes = async () => {
    await request.approved();
    return kept.at(-1)?.session_expires_at ?? 0;
  };
  return { link: await asking.linkWith(request.link), comes };
}

function letIn(laptop: KeyedDevice, text: string): Promise<LetIn> {
  const [link, key] = [readSignInLink(text), readKeyedLink(text)?.key];
  if (link === null || !key) throw new Error('The code has no keys');
  return laptop.sealing().linking.letIn(link, key, { scope: 'full', persist: 'once' });
}

test.each([60, 3_600, 86_400])('a session of %d seconds, and its keys, end together', async (seconds) => {
  const { url, laptop } = await accountAt(seconds);
  const { link, comes } = await visitor(url);
  const { endsWithSession } = await letIn(laptop, link);
  const [end, known] = await Promise.all([comes(), endsWithSession()]);
  expect(Math.abs(end - Date.now() - seconds * 1_000)).toBeLessThan(60_000);
  const { guests } = await laptop.ring();
  expect(guests).toEqual(known?.guests);
  const [{ until } = { until: 0 }] = guests;
  expect(Math.abs(until - end)).toBeLessThan(CLOSE_MS);
});
