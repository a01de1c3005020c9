import {
  type BatonClient,
  type DeviceType,
  makeBatonClient,
  type PeerToPeer,
  readSignInLink,
  requestSignIn,
  type Session,
  type SessionStore,
  startDeviceSession,
} from '../../shared/client/index.ts';
import { nodeTextCrypto } from '../../shared/client/node/text-crypto.ts';
import { type Keyring, makeNextRing, memoryKeys } from '../../shared/client/sealed.ts';
import { makeRingCalls } from '../../shared/client/sealing/ring-calls.ts';
import { makeSealingCalls } from '../../shared/client/sealing/sealing-calls.ts';
import {
  type KeptGrant,
  type LetInSettings,
  makeAsking,
  makeSealing,
  memoryTaken,
  readKeyedLink,
  type Sealing,
} from '../../shared/client/sealing.ts';
import type { SignInSite } from '../support/sign-in/sign-in.ts';

/** A device beside the browser: the client library, with keys in memory. */
export interface KeyedDevice {
  readonly client: BatonClient;
  readonly sealing: () => Sealing;
  ring(): Promise<Keyring>;
  /** Loses its keys, and keeps its session. */
  loseKeys(): Promise<void>;
  /** Sends a sealed text to the device of that name. */
  send(name: string, text: string): Promise<void>;
  /** Lets in the device that shows this link. Returns the digits that both show. */
  letIn(link: string, access?: LetInSettings): Promise<string>;
  /** Opens the waiting messages, and acknowledges them. */
  read(): Promise<(string | null)[]>;
  /** Puts this many rings in which nothing else changes. */
  lengthenChain(count: number): Promise<void>;
  /** Makes another client of this device, which may send sealed files from device to device. */
  direct(peers: PeerToPeer): { client: BatonClient; sealing: Sealing };
  /** Asks to be let in under that name. Returns the link, and the digits once it was let in. */
  askToJoin(name: string): Promise<{ link: string; digits: Promise<string> }>;
}

function memorySession(): SessionStore {
  let kept: Session | null = null;
  return {
    load: () => kept,
    save: (session) => void (kept = session),
    clear: () => void (kept = null),
  };
}

function memoryGrant() {
  let kept: KeptGrant | null = null;
  return {
    load: () => Promise.resolve(kept),
    save: (grant: KeptGrant) => Promise.resolve(void (kept = grant)),
    clear: () => Promise.resolve(void (kept = null)),
  };
}

const deviceType: DeviceType = 'linux';

export function makeKeyedDevice(
  site: SignInSite,
  baseUrl: string,
  /** The public origin of the service, if the device knows a replica by another address. */
  origin = baseUrl,
): KeyedDevice & { signIn(name: string, user?: string): Promise<void> } {
  const session = memorySession();
  const stores = {
    keys: { ...memoryKeys(), textCrypto: nodeTextCrypto },
    asking: memoryKeys(),
    grant: memoryGrant(),
    taken: memoryTaken(),
  };
  const client = makeBatonClient({ baseUrl, session });
  const sealing = () => makeSealing({ baseUrl, session, ...stores });
  const ring = async (): Promise<Keyring> => {
    const found = await sealing().rings.current();
    if (found === null) throw new Error('This device has no keys');
    return found;
  };
  return {
    client,
    sealing,
    ring,
    loseKeys: () => stores.keys.clear(),
    async signIn(name, user) {
      const login = await site.logIn(user);
      const headers = { Cookie: login.cookie, Origin: origin };
      await startDeviceSession({
        baseUrl,
        headers,
        deviceId: crypto.randomUUID(),
        deviceName: name,
        deviceType,
        session,
      });
    },
    async send(name, text) {
      const devices = await client.devices.list();
      const to = devices.find((each) => each.name === name)?.device_id ?? '';
      await sealing().texts.send(await ring(), { to, text, devices });
    },
    async letIn(text, access) {
      const [found, key] = [readSignInLink(text), readKeyedLink(text)?.key ?? null];
      if (found === null || key === null) throw new Error('The code has no keys');
      // Its user says yes to everything that the approval asks.
      const replaced = await sealing().linking.replaced(await client.signIns.look(found));
      return (await sealing().linking.letIn(found, key, { ...access, replaces: replaced?.sig })).checkCode;
    },
    async read() {
      const [keyring, messages] = [await ring(), await client.messages.list()];
      const texts: (string | null)[] = [];
      for (const message of messages) {
        const received = await sealing().texts.open(keyring, message);
        texts.push(received.kind === 'opened' ? received.text : null);
      }
      await client.messages.acknowledge(messages.map(({ message_id }) => message_id));
      return texts;
    },
    async lengthenChain(count) {
      const keyring = await ring();
      const { put } = makeRingCalls(makeSealingCalls({ baseUrl, session }));
      let last = keyring.ring;
      for (let made = 0; made < count; made += 1) {
        last = await makeNextRing(last, keyring, {}, Date.now());
        await put(last.text, last.body.n);
      }
    },
    direct(peers) {
      const own = sealing();
      const peerToPeer = own.files.sealSignals(peers);
      return { client: makeBatonClient({ baseUrl, session, peerToPeer }), sealing: own };
    },
    async askToJoin(name) {
      const asking = await makeAsking(stores);
      const about = { baseUrl, session, deviceName: name, deviceType };
      const request = await requestSignIn({ ...about, keys: asking.keys, onApproved: asking.keep });
      const take = async (): Promise<string> => {
        await request.approved();
        return (await sealing().rings.takeGrant())?.checkCode ?? '';
      };
      return { link: await asking.linkWith(request.link), digits: take() };
    },
  };
}
