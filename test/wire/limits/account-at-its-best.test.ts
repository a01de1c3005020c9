import { LIMITS } from '../../../shared/contract/limits.ts';
import { makeDevice, randomUser, type TestDevice } from '../../support/device.ts';
import { type Site, startSite } from '../../support/site.ts';
import { request } from '../../support/wire.ts';

/* An account that is as active as possible, under the limits that are in force everywhere. None of it is refused. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '1' }, { alone: true });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

/** Makes devices of one account, each with its row. */
async function enrol(count: number): Promise<TestDevice[]> {
  const user = randomUser();
  const devices = Array.from({ length: count }, (_, i) => makeDevice({ user, name: `Device ${i}` }));
  for (const device of devices) await device.on(site.one).call('getMe');
  return devices;
}

test('all devices of an account come back to one replica at once, and fetch their state', async () => {
  const devices = await enrol(LIMITS.devicesPerAccount);
  const statuses = await Promise.all(
    devices.map(async (device) => {
      await site.listen(device, site.one).next('ready');
      const paths = ['/api/me', '/api/devices', '/api/message', '/api/transfer', '/api/clipboard'];
      const asked = paths.map((path) => request(site.one, { path, headers: device.headers }));
      return (await Promise.all(asked)).map(({ status }) => status);
    }),
  );
  expect(new Set(statuses.flat())).toEqual(new Set([200]));
}, 60_000);

test('a folder of 5,000 files is offered in five transfers at once', async () => {
  const [sender, receiver] = (await enrol(2)) as [TestDevice, TestDevice];
  const files = Array.from({ length: LIMITS.filesPerTransfer }, (_, i) => ({
    name: `Holidays/day ${i % 30}/IMG_${i}.jpeg`,
    size: 3_000_000,
  }));
  const offers = Array.from({ length: 5 }, () =>
    request(site.one, {
      ...{ method: 'POST', path: '/api/transfer/init', headers: sender.headers },
      body: { to_device_id: receiver.id, files },
    }),
  );
  expect((await Promise.all(offers)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
});

test('five hundred messages of eight devices may come in one burst', async () => {
  const [receiver, ...senders] = (await enrol(9)) as [TestDevice, ...TestDevice[]];
  const stream = site.listen(receiver, site.one);
  await stream.next('ready');
  // A mailbox takes 500 unacknowledged messages.
  const count = LIMITS.mailboxMessages;
  const sent = Array.from({ length: count }, (_, i) => {
    const { headers } = senders[i % senders.length] as TestDevice;
    const body = { to_device_id: receiver.id, content: `message ${i}` };
    return request(site.one, { method: 'POST', path: '/api/message', headers, body });
  });
  expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([201]));
}, 60_000);
