import { withChromium } from '../browser/chromium.ts';
import { MIB } from '../relay/support/relayed.ts';
import { alter, type DirectWindow, expectSame, receive, send, useDirectPages } from './direct-pages.ts';

withChromium.describe('a page whose library goes from device to device beside a hostile one', () => {
  const { pair, siteOne } = useDirectPages();

  const isBytes = 'typeof data !== "string"';
  test.each([
    ['text where bytes are due', `(data, n) => ${isBytes} && n > 5 ? 'hello' : data`],
    // Only the last message has seven bytes. Seven more bytes are more than the file has.
    ['more bytes than the file has', `(data) => ${isBytes} && data.length === 7 ? new Uint8Array(14) : data`],
    ['the wrong file', `(data) => ${isBytes} ? data : '{"say":"file","file":7,"at":0}'`],
    ['bytes before a file', '(data) => [new Uint8Array(9), data]'],
    ['empty messages', `(data) => ${isBytes} ? new Uint8Array(0) : data`],
  ])('takes the relay from a sender that sends %s', async (_, how) => {
    const { sender, receiver } = await pair();
    await alter(sender, how);
    const [sent, received] = await Promise.all([send(sender, 5 * MIB + 7), receive(receiver)]);
    expectSame(sent, received);
    expect(received.paths.at(-1)).toBe('relay');
  });

  test.each([
    ['wants a file that there is not', `(data) => '{"say":"want","file":9,"at":0}'`],
    ['wants what is behind the end', `(data) => data.replace('"at":0', '"at":5242880')`],
    ['took more than was sent', `(data) => data.replace(/"bytes":\\d+/, '"bytes":9007199254740991')`],
    ['sends bytes', '() => new Uint8Array(100)'],
    ['sends nonsense', `() => '{'.repeat(10000)`],
    ['wants without end', '(data) => Array.from({ length: 1000 }, () => data)'],
  ])('takes the relay for a receiver that %s', async (_, how) => {
    const { sender, receiver } = await pair();
    await alter(receiver, how);
    const [sent, received] = await Promise.all([send(sender, 5 * MIB), receive(receiver)]);
    expectSame(sent, received);
    expect(sent.paths.at(-1)).toBe('relay');
  });

  test('ends the transfer for both when other bytes come than were announced', async () => {
    const { sender, receiver } = await pair();
    await alter(sender, `(data) => ${isBytes} ? data.slice().fill(7) : data`);
    const [sent, received] = await Promise.all([send(sender, 5 * MIB), receive(receiver)]);
    expect([sent.state, received.state]).toEqual(['digest_mismatch', 'digest_mismatch']);
  });

  test('is not held up by a flood of candidates that lead nowhere', async () => {
    const { sender, receiver, laptop } = await pair();
    const sending = send(sender, 20 * MIB);
    const receiving = receive(receiver, { slowMs: 20 });
    const id = await sender.evaluate(async () => {
      const { device } = globalThis as unknown as DirectWindow;
      await device.progressed(0.01);
      return device.id();
    });
    const body = {
      to: 'Phone',
      transfer_id: id,
      kind: 'candidate' as const,
      payload: { candidate: 'x'.repeat(2_000) },
    };
    for (let i = 0; i < 300; i += 1) await laptop.on(siteOne()).call('sendSignal', { body });
    const [sent, received] = await Promise.all([sending, receiving]);
    expectSame(sent, received);
    expect(received.paths).toEqual(['direct']);
  });
});
