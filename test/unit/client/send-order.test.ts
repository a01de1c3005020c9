import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import { makeInbox } from '../../support/stream-recorder.ts';
import { type Asked, fakeService } from './fake-service.ts';

interface Sent {
  readonly content: string;
  readonly key: string | null;
  answer(status?: number, body?: object): void;
  breakOff(): void;
}

const idOf = (content: string): string => `019a0000-0000-7000-8000-${content.length.toString().padStart(12, '0')}`;
const acceptedOf = (content: string): object => ({
  message_id: idOf(content),
  to: [{ device_id: 'device-01', name: 'Phone', online: true, pushed: false }],
  created_at: 1,
});

/** Makes a service that answers a message when the test says so. */
function scene() {
  const asked = makeInbox<Sent>(({ content }) => content);
  const { fetch } = fakeService(
    ({ body, headers }: Asked) =>
      new Promise((resolve, reject) => {
        const { content } = body as { content: string };
        asked.push({
          content,
          key: headers.get('idempotency-key'),
          answer: (status = 201, said = acceptedOf(content)) => resolve({ status, body: said }),
          breakOff: () => reject(new TypeError('the network is gone')),
        });
      }),
  );
  const { messages } = makeBatonClient({ baseUrl: 'http://service', fetch });
  return { messages, asked };
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('messages that a program sends without awaiting leave in order, each after the answer to the one before', async () => {
  const { messages, asked } = scene();
  const all = ['1', '2', '3'].map((content) => messages.send('Phone', content));
  const first = await asked.next();
  await turns();
  expect(asked.all.map(({ content }) => content)).toEqual(['1']);
  first.answer();
  (await asked.next()).answer();
  (await asked.next()).answer();
  expect((await Promise.all(all)).map(({ message_id }) => message_id)).toEqual(Array(3).fill(idOf('1')));
});

test('a receiver does not wait for another one', async () => {
  const { messages, asked } = scene();
  const all = [messages.send('Phone', 'to the phone'), messages.send({ device_id: 'laptop-01' }, 'to the laptop')];
  const [one, other] = [await asked.next(), await asked.next()];
  other.answer();
  expect((await all[1])?.message_id).toBe(idOf('to the laptop'));
  one.answer();
  await Promise.all(all);
});

test('a receiver that is named in two ways has one line', async () => {
  const { messages, asked } = scene();
  const all = [messages.send('My Phone', '1'), messages.send('my  phone', '2')];
  const first = await asked.next();
  await turns();
  expect(asked.all).toHaveLength(1);
  first.answer();
  (await asked.next()).answer();
  await Promise.all(all);
});

test('what goes to all devices keeps its place among what goes to one', async () => {
  const { messages, asked } = scene();
  const all = [messages.send('Phone', '1'), messages.send('*', '2'), messages.send('Laptop', '3')];
  for (const content of ['1', '2', '3']) {
    const one = await asked.next();
    await turns();
    expect([one.content, asked.all.length]).toEqual([content, Number(content)]);
    one.answer();
  }
  await Promise.all(all);
});

test('one that is refused holds up none behind it', async () => {
  const { messages, asked } = scene();
  const refused = messages.send('Phone', '1');
  const next = messages.send('Phone', '2');
  (await asked.next()).answer(404, { code: 'not_found' });
  await expect(refused).rejects.toMatchObject({ code: 'not_found', outcome: 'none' });
  (await asked.next()).answer();
  await next;
});

test('one that is not wanted any more while it waits is never sent, and says so at once', async () => {
  const { messages, asked } = scene();
  const stopping = new AbortController();
  const first = messages.send('Phone', '1');
  const unwanted = messages.send('Phone', '2', { signal: stopping.signal });
  const third = messages.send('Phone', '3');
  const one = await asked.next();
  stopping.abort();
  await expect(unwanted).rejects.toMatchObject({ code: 'aborted', outcome: 'none' });
  one.answer();
  (await asked.next()).answer();
  await Promise.all([first, third]);
  expect(asked.all.map(({ content }) => content)).toEqual(['1', '3']);
});

test('a program that keeps a message repeats it with its own key, and makes the attempts itself', async () => {
  const { messages, asked } = scene();
  const settings = { idempotencyKey: 'kept-0001', retries: 0 };
  const lost = messages.send('Phone', '1', settings);
  (await asked.next()).breakOff();
  await expect(lost).rejects.toMatchObject({ code: 'network', outcome: 'unknown', action: 'retry' });
  expect(asked.all).toHaveLength(1);
  const again = messages.send('Phone', '1', settings);
  (await asked.next()).answer();
  await again;
  expect(asked.all.map(({ key }) => key)).toEqual(['kept-0001', 'kept-0001']);
});

test.each([
  ['the store did not answer', 503, { code: 'store_unavailable' }, 'unknown'],
  ['the replica was shutting down', 503, { code: 'draining' }, 'none'],
  ['the auth broker was away', 503, { code: 'broker_unavailable' }, 'none'],
  ['a proxy answered in place of the service', 504, {}, 'unknown'],
  ['something broke in the service', 500, { code: 'internal' }, 'unknown'],
  ['there were too many', 429, { code: 'rate_limited' }, 'none'],
  ['the mailbox is full', 409, { code: 'mailbox_full' }, 'none'],
] as const)('an error tells whether the message may have arrived: %s', async (_, status, body, outcome) => {
  const { messages, asked } = scene();
  const sending = messages.send('Phone', '1', { retries: 0 });
  (await asked.next()).answer(status, body);
  await expect(sending).rejects.toMatchObject({ outcome });
});

test('a refusal after an attempt without answer does not say that nothing arrived', async () => {
  const { messages, asked } = scene();
  const sending = messages.send('Phone', '1').catch((error: unknown) => error);
  (await asked.next()).breakOff();
  (await asked.next()).answer(404, { code: 'not_found' });
  expect(await sending).toMatchObject({ code: 'not_found', outcome: 'unknown' });
});
