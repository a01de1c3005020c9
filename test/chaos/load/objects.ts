import { BatonError } from '../../../shared/contract/errors.ts';
import type { Ring } from '../../../shared/contract/modules/keys.ts';
import { type Client, makeClient } from '../../../shared/client/http/client.ts';
import { NoAnswerError } from '../../../shared/client/errors/no-answer.ts';
import { type Keyed, keyed, type MadeRing, makeRing, sha256 } from '../../support/sealed/keyring.ts';
import type { Fleet } from '../fleet.ts';
import type { ObjectOperation } from '../operations.ts';
import type { Random } from '../random.ts';
import { wait } from '../wait.ts';
import { makeLogins } from './logins.ts';

const DEVICES = 3;
const TICK_MS = 120;
const CALL_TIMEOUT_MS = 5_000;

/** The name of the installation, which rings carry. */
export const SERVICE = 'https://chaos.example';

/** Accounts for these objects alone. The history of an object must contain everything that others do to it. */
export const OBJECT_ACCOUNTS = ['o000', 'o001', 'o002'];

interface ObjectDevice {
  account: string;
  id: string;
  client: Client;
}

interface ObjectLoadParts {
  fleet: Fleet;
  random: Random;
  now: () => number;
  operations: ObjectOperation[];
}

type Asked = Pick<ObjectOperation, 'kind' | 'key' | 'do'> & Partial<Pick<ObjectOperation, 'value' | 'before'>>;

/** Devices that read and change objects that several of them share. They use any replica, and write down when. */
export class ObjectLoad {
  readonly #parts: ObjectLoadParts;
  readonly #devices: ObjectDevice[];
  readonly #keyed: ReadonlyMap<string, Keyed>;
  /** The newest ring that was read, by account. */
  readonly #newest = new Map<string, number>();
  readonly #logIn: () => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  #inFlight = 0;
  #number = 0;

  constructor(parts: ObjectLoadParts) {
    this.#parts = parts;
    this.#devices = OBJECT_ACCOUNTS.flatMap((account) =>
      Array.from({ length: DEVICES }, (_, i) => this.#deviceOf(account, `p${i}`)),
    );
    const { fleet, ...others } = parts;
    this.#logIn = makeLogins({ ...others, baseUrl: () => fleet.choose().process.url, timeoutMs: CALL_TIMEOUT_MS });
    this.#keyed = new Map(OBJECT_ACCOUNTS.map((account) => [account, keyed({ id: `${account}-p0-chaos` })]));
  }

  start(): void {
    this.#timer = setInterval(() => this.#step(), TICK_MS);
  }

  /** Starts no more operations, and waits for those in flight. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    while (this.#inFlight > 0) await wait(50);
  }

  #deviceOf(account: string, name: string): ObjectDevice {
    const { fleet, random } = this.#parts;
    const id = `${account}-${name}-chaos`;
    const headers = { 'X-Dev-User': account, 'X-Dev-Device': id, 'X-Dev-Name': name, 'X-Dev-Type': 'linux' };
    const baseUrl = () => fleet.choose().process.url;
    const client = makeClient({ baseUrl, headers, timeoutMs: CALL_TIMEOUT_MS, retries: 0, random: random.next });
    return { account, id, client };
  }

  #step(): void {
    const { random } = this.#parts;
    const device = random.pick(this.#devices);
    const choice = random.next();
    const act =
      choice < 0.35
        ? this.#clipboard(device)
        : choice < 0.65
          ? this.#name(device)
          : choice < 0.85
            ? this.#keys(device)
            : choice < 0.95
              ? this.#transfer(device)
              : this.#logIn();
    this.#inFlight += 1;
    void act.finally(() => {
      this.#inFlight -= 1;
    });
  }

  /** Makes a call and writes down its answer. `reads` returns what the answer says of the object; null: nothing. */
  async #note<T>(
    device: ObjectDevice,
    asked: Asked,
    call: () => Promise<{ body: T }>,
    reads: (body: T) => string | null = () => '',
  ): Promise<T | null> {
    const { now, operations } = this.#parts;
    const base = { value: '', before: '', ...asked, account: device.account, by: device.id, begin: now() };
    try {
      const { body } = await call();
      const read = reads(body);
      if (read !== null) operations.push({ ...base, end: now(), said: 'ok', read });
      return body;
    } catch (error) {
      const open = { ...base, end: null, said: null, read: '' };
      if (error instanceof NoAnswerError) operations.push(open);
      else if (!(error instanceof BatonError)) throw error;
      else if (error.status >= 500) operations.push(open);
      else this.#refused(base, error);
      return null;
    }
  }

  /** A refusal that says something about the object is a read of it. Others, such as a limit, changed nothing. */
  #refused(base: Omit<ObjectOperation, 'end' | 'said' | 'read'>, { code, extras }: BatonError): void {
    const { now, operations } = this.#parts;
    const note = (read: string) => operations.push({ ...base, end: now(), said: 'refused', read });
    const state = extras.members?.['state'];
    if (code === 'invalid_transition') note(typeof state === 'string' ? state : '');
    else if (code === 'keys_conflict') note('');
    else if (code === 'not_found' && base.kind === 'transfer') note('gone');
    else if (code === 'not_found' && base.kind === 'keys' && base.do === 'read')
      operations.push({ ...base, end: now(), said: 'ok', read: '' });
  }

  #value(): string {
    this.#number += 1;
    return `v${this.#number}`;
  }

  async #clipboard(device: ObjectDevice): Promise<void> {
    const at = { kind: 'clipboard' as const, key: device.account };
    const { client } = device;
    const choice = this.#parts.random.next();
    if (choice < 0.6) {
      const read = () => client.call('getClipboard');
      await this.#note(device, { ...at, do: 'read' }, read, ({ content }) => content);
    } else if (choice < 0.95) {
      const value = this.#value();
      const body = { content: value, content_type: 'text/plain' };
      await this.#note(device, { ...at, do: 'write', value }, () => client.call('setClipboard', { body }));
    } else await this.#note(device, { ...at, do: 'write' }, () => client.call('clearClipboard'));
  }

  async #name(device: ObjectDevice): Promise<void> {
    const { random } = this.#parts;
    const at = { kind: 'name' as const, key: device.id };
    if (random.next() < 0.5) {
      const read = () => device.client.call('listDevices');
      const nameIn = (body: { devices: { device_id: string; name: string }[] }) =>
        body.devices.find(({ device_id: id }) => id === device.id)?.name ?? '?';
      await this.#note(device, { ...at, do: 'read' }, read, nameIn);
      return;
    }
    const value = this.#value();
    const caller = random.pick(this.#devices.filter(({ account }) => account === device.account));
    const rename = () =>
      caller.client.call('renameDevice', { params: { device_id: device.id }, body: { name: value } });
    await this.#note(caller, { ...at, do: 'write', value }, rename);
  }

  /** Reads the rings, and usually puts the next one. */
  async #keys(device: ObjectDevice): Promise<void> {
    const at = { kind: 'keys' as const, key: device.account };
    const { client, account } = device;
    let before: MadeRing | undefined;
    const after = Math.max(0, (this.#newest.get(account) ?? 0) - 1);
    const read = () => client.call('getKeys', { query: { after } });
    const answer = await this.#note(device, { ...at, do: 'read' }, read, ({ rings, n }) => {
      const newest = madeOf(rings.at(-1) ?? '');
      // The page does not end with the ring in force, or the store now has fewer rings. The next read starts there.
      this.#newest.set(account, newest?.n ?? 0);
      if (newest?.n !== n) return null;
      before = newest;
      return nameOf(newest);
    });
    if (answer === null) this.#newest.set(account, 0);
    else if (before === undefined) return;
    const by = this.#keyed.get(account) as Keyed;
    const says = { older: Buffer.from(this.#value()).toString('base64url') };
    const ring = makeRing({ service: SERVICE, user: account }, { by, members: [by], before, says });
    const put = () => {
      const headers = { 'If-Match': `"${ring.n - 1}"` };
      return client.call('putKeys', { headers, body: { ring: ring.text } });
    };
    await this.#note(device, { ...at, do: 'put', value: nameOf(ring), before: nameOf(before) }, put);
  }

  /** Offers a file; then both sides take steps at once. */
  async #transfer(sender: ObjectDevice): Promise<void> {
    const { random } = this.#parts;
    const receiver = random.pick(this.#devices.filter((one) => one.account === sender.account && one !== sender));
    const body = { to_device_id: receiver.id, files: [{ name: 'file', size: 1, type: 'text/plain' }] };
    const offered = await sender.client.call('initTransfer', { body }).catch((error: unknown) => {
      if (error instanceof BatonError || error instanceof NoAnswerError) return null;
      throw error;
    });
    if (offered === null) return;
    const { transfer_id: id } = offered.body.transfer;
    const drawn = random.shuffled(TRANSFER_STEPS).slice(0, 4);
    const steps = [['receiver', 'accept'], ['sender', 'read'], ['receiver', 'read'], ...drawn] as const;
    await Promise.all(
      steps.map(async ([side, step]) => {
        await wait(random.next() * 400);
        await this.#act(side === 'sender' ? sender : receiver, id, step);
      }),
    );
    await this.#act(sender, id, 'read');
    await this.#act(sender, id, 'cancel');
    await this.#act(receiver, id, 'read');
  }

  async #act({ account, id: by, client }: ObjectDevice, id: string, step: Step): Promise<void> {
    const at = { kind: 'transfer' as const, key: id, do: step };
    const call = () => callsOf(client, id)[step]();
    await this.#note({ account, id: by, client }, at, call, ({ transfer }) => transfer.state);
  }
}

/** The calls about a transfer. */
const callsOf = (client: Client, id: string) => {
  const params = { transfer_id: id };
  return {
    read: () => client.call('getTransfer', { params }),
    accept: () => client.call('acceptTransfer', { params }),
    reject: () => client.call('rejectTransfer', { params }),
    p2p: () => client.call('p2pTransfer', { params }),
    complete: () => client.call('completeTransfer', { params }),
    fail: () => client.call('failTransfer', { params }),
    cancel: () => client.call('cancelTransfer', { params }),
  };
};

type Step = keyof ReturnType<typeof callsOf>;

const TRANSFER_STEPS = [
  ['receiver', 'reject'],
  ['sender', 'p2p'],
  ['receiver', 'complete'],
  ['receiver', 'fail'],
  ['sender', 'cancel'],
  ['receiver', 'accept'],
  ['receiver', 'p2p'],
  ['sender', 'read'],
] as const;

/** Returns what the next ring must know of one that was sent; undefined for no ring. */
function madeOf(text: string): MadeRing | undefined {
  if (text === '') return undefined;
  const bytes = Buffer.from(text.split('.')[0] ?? '', 'base64url');
  const ring = JSON.parse(bytes.toString()) as Ring;
  return { text, n: ring.n, hash: sha256(bytes), ring };
}

const nameOf = (ring: MadeRing | undefined): string => (ring === undefined ? '' : `${ring.n}:${ring.hash}`);
