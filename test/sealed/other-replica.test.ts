import { type KeyedDevice, makeKeyedDevice } from '../browser/keyed-device.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';

/* Rings and lists of guests that were put through one replica, which is killed then, as the devices at another one get them. */

const sites: SignInSite[] = [];
afterEach(() => Promise.all(sites.splice(0).map((site) => site.stop())));

const PUBLIC = 'http://localhost:8080';
const HOUR = { scope: 'full', persist: 'once' } as const;

/** Makes an account with keys: the laptop knows only one replica, and the phone only the other one. */
async function accountOfTwo() {
  const site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0', APP_PUBLIC_URL: PUBLIC });
  sites.push(site);
  const laptop = makeKeyedDevice(site, site.one.url, PUBLIC);
  await laptop.signIn('Laptop');
  await laptop.sealing().rings.create({ kind: 'cli' });
  const phone = await letIn(laptop, 'Phone', {});
  /** Lets in a device that knows only the other replica. */
  async function letIn(by: KeyedDevice, name: string, access: Parameters<KeyedDevice['letIn']>[1]) {
    const device = makeKeyedDevice(site, site.two.url);
    const joining = await device.askToJoin(name);
    const digits = await by.letIn(joining.link, access);
    expect(await joining.digits).toBe(digits);
    return device;
  }
  return { site, laptop, phone, letIn };
}

async function idOf(by: KeyedDevice, name: string): Promise<string> {
  return (await by.client.devices.list()).find((each) => each.name === name)?.device_id ?? '';
}

// Proves G32.
test('a ring that was put through a replica which died is the one that the others go on from', async () => {
  const { site, laptop, phone, letIn } = await accountOfTwo();
  const tablet = await letIn(laptop, 'Tablet', {});
  const put = (await laptop.ring()).ring;
  await site.one.kill();
  for (const device of [phone, tablet]) expect((await device.ring()).ring.text).toBe(put.text);
  await phone.send('Tablet', 'under that ring');
  expect(await tablet.read()).toEqual(['under that ring']);
  const late = await letIn(tablet, 'Late', {});
  expect((await phone.ring()).ring.body).toMatchObject({ n: put.body.n + 1, members: { length: 4 } });
  await late.send('Phone', 'under the next one');
  expect(await phone.read()).toEqual(['under the next one']);
});

// Proves G32.
test('a list of guests that was put through a replica which died is the one that the others read, and replace', async () => {
  const { site, laptop, phone, letIn } = await accountOfTwo();
  const visitor = await letIn(laptop, 'Visitor', HOUR);
  const put = (await laptop.ring()).guests;
  expect(put).toMatchObject([{ device_id: await idOf(laptop, 'Visitor') }]);
  await site.one.kill();
  for (const device of [phone, visitor]) expect((await device.ring()).guests).toEqual(put);
  await phone.send('Visitor', 'for the guest');
  expect(await visitor.read()).toEqual(['for the guest']);
  await visitor.send('Phone', 'from the guest');
  expect(await phone.read()).toEqual(['from the guest']);
  // The next list has both, because it replaces the one that the dead replica took.
  const second = await letIn(phone, 'Second', HOUR);
  const ids = (await phone.ring()).guests.map(({ device_id }) => device_id).sort();
  expect(ids).toEqual([put[0]?.device_id, await idOf(phone, 'Second')].sort());
  await second.send('Phone', 'from both');
  await visitor.send('Phone', 'from both');
  expect(await phone.read()).toEqual(['from both', 'from both']);
});
