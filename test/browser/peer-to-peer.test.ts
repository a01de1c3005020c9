import type { Browser } from 'playwright-core';
import type { TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { type DevicePage, openDevice } from './device-page.ts';
import { seededBytes, sha256Of } from './page/content.ts';

const LENGTH = 4 * 1024 * 1024;
const MEBIBYTE = 1024 * 1024;

withChromium.describe('two pages on two replicas', () => {
  let site: Site;
  let browser: Browser;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  async function enrol(): Promise<{ sender: TestDevice; receiver: TestDevice }> {
    const [sender, receiver] = await site.enrol('Laptop', 'Phone');
    return { sender, receiver };
  }

  const offerTo = (page: DevicePage, receiver: TestDevice, seed: number) =>
    page.evaluate(({ to, ...content }) => party.offer(to, content), { to: receiver.name, length: LENGTH, seed });

  const nextIncoming = (page: DevicePage) =>
    page.evaluate(async () => (await party.stream.next('transfer:incoming')).data);

  const seesOnline = (page: DevicePage, device: TestDevice) =>
    page.evaluate(async (id) => {
      const isOn = (row: { device_id: string | null; online: boolean }) => row.device_id === id && row.online;
      await party.stream.next('presence', ({ data }) => data.devices.some(isOn));
    }, device.id);

  /** Watches both ends from the acceptance on, and expects what is the same in every case. */
  async function expectToPass(sender: DevicePage, receiver: DevicePage, id: string, seed: number) {
    const [sent, received, sha256] = await Promise.all([
      sender.evaluate((transferId) => party.send(transferId), id),
      receiver.evaluate((transferId) => party.receive(transferId), id),
      sha256Of(seededBytes(LENGTH, seed)),
    ]);
    const rate = LENGTH / MEBIBYTE / (received.tookMs / 1000);
    process.stdout.write(
      `${LENGTH / MEBIBYTE} MiB ${JSON.stringify(sent.path)} ${rate.toFixed(1)} MiB/s, ${sent.pauses} pauses, ${sent.mostBufferedBytes} B at most\n`,
    );

    expect(received.sha256).toBe(sha256);
    expect(received.transfer).toMatchObject({ state: 'DONE', mode: 'p2p', total_bytes: LENGTH, error: null });
    expect(sent.transfer).toEqual(received.transfer);
    expect(sent.states).toEqual(['ACCEPTED', 'P2P_ACTIVE', 'DONE']);
    expect(received.states).toEqual(sent.states);

    expect(sent.mostBufferedBytes).toBeLessThan(2.5 * MEBIBYTE);
    expect([...sender.complaints, ...receiver.complaints]).toEqual([]);
  }

  test('a file passes through a data channel that was signalled through the service alone', async () => {
    const devices = await enrol();
    const [sender, receiver] = await Promise.all([
      openDevice(browser, devices.sender, site.one),
      openDevice(browser, devices.receiver, site.two),
    ]);

    const { transfer, online } = await offerTo(sender, devices.receiver, 1);
    const incoming = await nextIncoming(receiver);

    expect(online).toBe(true);
    expect(incoming).toEqual({ transfer, redelivered: false });
    await expectToPass(sender, receiver, transfer.transfer_id, 1);
  });

  test('a receiver that was away when the file was offered gets it once it is there', async () => {
    const devices = await enrol();
    const sender = await openDevice(browser, devices.sender, site.one);

    const { transfer, online } = await offerTo(sender, devices.receiver, 2);
    const receiver = await openDevice(browser, devices.receiver, site.two);
    await seesOnline(sender, devices.receiver);
    const incoming = await nextIncoming(receiver);

    expect(online).toBe(false);
    expect(incoming).toEqual({ transfer, redelivered: true });
    await expectToPass(sender, receiver, transfer.transfer_id, 2);
  });

  test('a receiver that reloads its page before it accepts is offered the file again', async () => {
    const devices = await enrol();
    const sender = await openDevice(browser, devices.sender, site.one);
    const receiver = await openDevice(browser, devices.receiver, site.two);
    await seesOnline(sender, devices.receiver);
    const { transfer } = await offerTo(sender, devices.receiver, 3);
    const before = await nextIncoming(receiver);

    await receiver.reload();
    await seesOnline(sender, devices.receiver);
    const incoming = await nextIncoming(receiver);

    expect(before).toEqual({ transfer, redelivered: false });
    expect(incoming).toEqual({ transfer, redelivered: true });
    await expectToPass(sender, receiver, transfer.transfer_id, 3);
  });
});
