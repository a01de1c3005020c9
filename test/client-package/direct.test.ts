import { withChromium } from '../browser/chromium.ts';
import { MIB } from '../relay/support/relayed.ts';
import { type DirectWindow, expectSame, join, on, progressed, receive, send, useDirectPages } from './direct-pages.ts';

withChromium.describe('a page whose library goes from device to device', () => {
  const { pair } = useDirectPages();

  test('passes 200 MB to another one without a byte through the service', async () => {
    const { sender, receiver } = await pair();
    const size = 200_000_000;
    const [sent, received] = await Promise.all([send(sender, size), receive(receiver)]);
    expectSame(sent, received);
    expect([sent.paths, received.paths]).toEqual([['direct'], ['direct']]);
    expect([received.mode, sent.patchedBytes]).toEqual(['p2p', 0]);
    const rate = size / 1_000 / received.ms;
    process.stdout.write(`200 MB from page to page: ${rate.toFixed(1)} MB/s, digest and file system with it\n`);
  });

  test('passes many files, empty ones too, each whole', async () => {
    const { sender, receiver } = await pair();
    const sizes = [0, 1, 70_000, 3 * MIB + 7, 0, ...Array.from({ length: 60 }, (_, i) => i * 999)];
    const [sent, received] = await Promise.all([send(sender, ...sizes), receive(receiver)]);
    expectSame(sent, received);
    expect(received.paths).toEqual(['direct']);
  });

  test.each([
    ['the receiver has switched it off', {}, { direct: false }],
    ['the sender has switched it off', { direct: false }, {}],
    ['no path opens', { iceTransportPolicy: 'relay' as const }, {}],
  ])('goes through the relay when %s', async (_, ofSender, ofReceiver) => {
    const { sender, receiver } = await pair(ofSender, ofReceiver);
    const [sent, received] = await Promise.all([send(sender, 10 * MIB), receive(receiver)]);
    expectSame(sent, received);
    expect([sent.paths, received.paths]).toEqual([['relay'], ['relay']]);
    // This is long before the thirty seconds that an attempt may take.
    expect(received.ms).toBeLessThan(15_000);
  });

  test.each(['sender', 'receiver'] as const)(
    'goes on through the relay from where it is when the path is cut at the %s',
    async (side) => {
      const pages = await pair();
      const size = 60 * MIB;
      const both = Promise.all([send(pages.sender, size), receive(pages.receiver, { slowMs: 5 })]);
      const before = await progressed(pages.receiver, 0.4);
      await on(pages[side], (device) => device.cut());
      const [sent, received] = await both;
      expectSame(sent, received);
      expect(before.path).toBe('direct');
      expect(received.paths).toEqual(['direct', 'relay']);
      expect(sent.paths).toEqual(['direct', 'relay']);
      // The bytes that the receiver had are not sent again.
      expect(sent.patchedBytes).toBeLessThanOrEqual(size - before.bytes);
      expect(sent.patchedBytes).toBeGreaterThan(0);
    },
  );

  test('has its files passed on by the relay when the path is cut among many, and none of them twice', async () => {
    const { sender, receiver } = await pair();
    const sizes = Array.from({ length: 40 }, (_, i) => MIB + i);
    const both = Promise.all([send(sender, ...sizes), receive(receiver, { slowMs: 20 })]);
    const before = await progressed(receiver, 0.5);
    await on(receiver, (device) => device.cut());
    const [sent, received] = await both;
    expectSame(sent, received);
    expect(received.paths).toEqual(['direct', 'relay']);
    expect(sent.patchedBytes).toBeLessThanOrEqual(41 * MIB - before.bytes);
  });

  test('begins in the relay where the path takes long to open, and changes over to it', async () => {
    const { sender, receiver } = await pair({}, { holdMs: 4_000 });
    const [sent, received] = await Promise.all([send(sender, 60 * MIB), receive(receiver, { slowMs: 10 })]);
    expectSame(sent, received);
    expect([sent.paths, received.paths]).toEqual([
      ['relay', 'direct'],
      ['relay', 'direct'],
    ]);
    expect(sent.patchedBytes).toBeLessThan(60 * MIB);
  });

  test('finds its path anew when the page of the receiver, and then that of the sender, is loaded again', async () => {
    const { sender, receiver, laptop, phone } = await pair();
    void send(sender, 60 * MIB).catch(() => {});
    void receive(receiver, { slowMs: 20 }).catch(() => {});
    await progressed(receiver, 0.2);
    await receiver.reload();
    await join(receiver, phone, {});
    const received = receive(receiver, { slowMs: 20 });
    await progressed(receiver, 0.2);
    const id = await on(sender, (device) => device.id());
    await sender.reload();
    await join(sender, laptop, {});
    const sent = await sender.evaluate((known) => (globalThis as unknown as DirectWindow).device.resume(known), id);
    expectSame(sent, await received);
    expect((await received).paths.at(-1)).toBe('direct');
  });

  test('holds still while its receiver pauses', async () => {
    const { sender, receiver } = await pair();
    const both = Promise.all([send(sender, 60 * MIB), receive(receiver, { slowMs: 5 })]);
    await progressed(receiver, 0.2);
    await on(receiver, (device) => device.pause());
    const paused = await progressed(receiver, 0.2);
    await receiver.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
    const later = await progressed(receiver, 0.2);
    // The bytes that had been taken when it paused may still be written.
    expect(later.bytes - paused.bytes).toBeLessThan(2 * MIB);
    await on(receiver, (device) => device.resumeNow());
    const [sent, received] = await both;
    expectSame(sent, received);
    expect(received.paths).toEqual(['direct']);
  });
});
