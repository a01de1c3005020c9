import type { Ring } from '../../shared/contract/modules/keys.ts';
import { type Client, makeClient } from '../../shared/client/http/client.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import { type Keyed, type MadeRing, makeRing, sha256 } from '../support/sealed/keyring.ts';
import { drawKey } from './drawn-keys.ts';
import { type Fleet, SERVICE } from './fleet.ts';

const ACCOUNT = 'rings';
const DEVICES = ['one', 'two', 'three'];

/** The number of devices that read the ring in force before any of them puts the next. */
const AT_ONCE = 3;

/** The longest time between the reading and the put, in which another device may put its ring. */
const PUT_WITHIN_MS = 15;

interface RingLoadParts {
  fleet: Fleet;
  random: Random;
}

interface Member {
  client: Client;
  keys: Keyed;
}

/**
 * Rings of one account. Several devices put each at once, and one of them wins. The checks look at the store, not at
 * the answers.
 */
export class RingLoad {
  readonly #parts: RingLoadParts;
  readonly #members: Member[];

  constructor(parts: RingLoadParts) {
    this.#parts = parts;
    this.#members = DEVICES.map((name) => this.#memberOf(name));
  }

  #memberOf(name: string): Member {
    const { fleet, random } = this.#parts;
    const id = `${ACCOUNT}-${name}-device`;
    const headers = { 'X-Dev-User': ACCOUNT, 'X-Dev-Device': id, 'X-Dev-Name': name, 'X-Dev-Type': 'linux' };
    const client = makeClient({ baseUrl: () => fleet.choose().process.url, headers, random: random.next });
    const [enc, sig] = [drawKey(random), drawKey(random)];
    return { client, keys: { id, enc: enc.raw, sig: sig.raw, key: sig.sign } };
  }

  /**
   * Lets devices put the ring after the one that they read. A call that fails is not repeated, because nobody waits for
   * its result.
   */
  async put(number: number): Promise<void> {
    const { random } = this.#parts;
    const members = this.#members.map(({ keys }) => keys);
    const chosen = random.shuffled(this.#members).slice(0, AT_ONCE);
    await Promise.all(
      chosen.map(async ({ client, keys: by }) => {
        const before = await inForce(client);
        if (before === null) return;
        const says = { older: Buffer.from(`${number} ${by.id}`).toString('base64url') };
        const ring = makeRing({ service: SERVICE, user: ACCOUNT }, { by, members, before, says });
        await wait(random.between(0, PUT_WITHIN_MS));
        const headers = { 'If-Match': `"${ring.n - 1}"` };
        await client.call('putKeys', { headers, body: { ring: ring.text } }).catch(() => null);
      }),
    );
  }
}

/** Resolves to the ring in force; undefined when there is none, null when nobody knows. */
async function inForce(client: Client): Promise<MadeRing | undefined | null> {
  const answer = await client.call('getKeys', {}).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'not_found') return undefined;
    return null;
  });
  const text = answer?.body.rings.at(-1);
  if (text === undefined) return answer === null ? null : undefined;
  const bytes = Buffer.from(text.split('.')[0] ?? '', 'base64url');
  const ring = JSON.parse(bytes.toString('utf8')) as Ring;
  return { text, n: ring.n, hash: sha256(bytes), ring };
}
