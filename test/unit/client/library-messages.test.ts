import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import type { Message } from '../../../shared/client/wire.ts';
import { makeInbox } from '../../support/stream-recorder.ts';
import { uuid } from './answers.ts';
import { type Asked, fakeService } from './fake-service.ts';

const ready = {
  ...{ resumed: true, device: null, presence: { version: 1, devices: [] }, clipboard: null },
  ...{ pending: { messages: 0, transfers: 0 }, heartbeat_ms: 15_000, server_id: 's' },
};

const copied = {
  ...{ content: 'grün', content_type: 'text/plain', source_device_id: 'phone-0001', source_device_name: 'Phone' },
  ...{ updated_at: 7, expires_at: 9 },
};

/** Makes a client on a stream that the test writes. */
function scene() {
  let write: (name: string, data: unknown) => void = () => {};
  const acknowledged = makeInbox<string[]>((ids) => ids.join());
  let acknowledges = true;
  let refusing: Promise<void> | null = null;
  let clipboardIs: Promise<void> | null = null;
  let asked = () => {};
  const answer = async ({ path, body }: Asked) => {
    if (path === '/api/message/ack') {
      if (refusing !== null) {
        const told = refusing;
        refusing = null;
        await told;
        return { status: 400, body: { code: 'invalid_request' } };
      }
      if (!acknowledges) return { status: 503, body: { code: 'draining' } };
      acknowledged.push((body as { message_ids: string[] }).message_ids.map((id) => `m${Number(id.slice(-3))}`));
      return { body: { acked: 1 } };
    }
    if (path === '/api/clipboard') {
      asked();
      await clipboardIs;
      return { body: copied };
    }
    if (path !== '/api/hub/events') return { body: { devices: [], messages: [] } };
    const text = new TextEncoder();
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        write = (name, data) => controller.enqueue(text.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
      },
    });
    return new Response(stream, { headers: { 'Content-Type': 'text/event-stream' } });
  };
  const { fetch } = fakeService(answer);
  const client = makeBatonClient({ baseUrl: 'http://service', fetch });
  const problems = makeInbox<string>(String);
  client.on('problem', ({ code }) => problems.push(code));
  return {
    ...{ client, acknowledged, problems },
    loseAcknowledgements: (loses: boolean) => {
      acknowledges = !loses;
    },
    /** Refuses the next acknowledgement when `until` resolves. */
    refuseNext: (until: Promise<void>) => {
      refusing = until;
    },
    async open() {
      client.start();
      const online = client.untilOnline();
      // The client asks for the stream in a later turn.
      while (client.state !== 'online') {
        await new Promise((resolve) => setImmediate(resolve));
        write('ready', ready);
      }
      await online;
    },
    /** Gives the clipboard when `until` resolves. Resolves when it is asked for. */
    holdClipboard: (until: Promise<void>) => {
      clipboardIs = until;
      return new Promise<void>((resolve) => {
        asked = resolve;
      });
    },
    clear: () => write('clipboard:cleared', { device_id: null }),
    ready: (clipboard: object | null) => write('ready', { ...ready, resumed: false, clipboard }),
    send: (id: string, redelivered = false) =>
      write('message', {
        ...{ message_id: uuid(Number(id.slice(1))), from_device_id: null, from_name: 'Phone' },
        ...{ content: id, created_at: 1, redelivered },
      } satisfies Message),
  };
}

test('a message is acknowledged when the application has taken it, and not before', async () => {
  const { client, acknowledged, open, send } = scene();
  const given = makeInbox<Message>(({ content }) => content);
  let finish = () => {};
  client.messages.receive((message) => {
    given.push(message);
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  await open();
  send('m1');
  await given.next();
  expect(acknowledged.all).toEqual([]);
  finish();
  expect(await acknowledged.next()).toEqual(['m1']);
  await client.close();
});

test('one that comes again is shown once; its acknowledgement is said again', async () => {
  const { client, acknowledged, problems, loseAcknowledgements, open, send } = scene();
  const shown: string[] = [];
  client.messages.receive(({ content }) => void shown.push(content));
  await open();
  loseAcknowledgements(true);
  send('m1');
  expect(await problems.next()).toBe('draining');
  loseAcknowledgements(false);
  send('m1', true);
  expect(await acknowledged.next()).toEqual(['m1']);
  expect(shown).toEqual(['m1']);
  await client.close();
});

test('an acknowledgement that was lost is said again by itself, with those that follow, while the stream stays', async () => {
  const { client, acknowledged, problems, loseAcknowledgements, open, send } = scene();
  client.messages.receive(() => {});
  await open();
  loseAcknowledgements(true);
  send('m1');
  expect(await problems.next()).toBe('draining');
  loseAcknowledgements(false);
  expect(await acknowledged.next()).toEqual(['m1']);

  loseAcknowledgements(true);
  send('m2');
  expect(await problems.next()).toBe('draining');
  loseAcknowledgements(false);
  send('m3');
  expect(await acknowledged.next()).toEqual(['m2', 'm3']);
  await client.close();
});

test('a message that was taken while the acknowledgement of another one was refused is acknowledged', async () => {
  const { client, acknowledged, problems, refuseNext, open, send } = scene();
  const given = makeInbox<string>(String);
  client.messages.receive(({ content }) => given.push(content));
  await open();
  let refuse = () => {};
  refuseNext(
    new Promise((resolve) => {
      refuse = resolve;
    }),
  );
  send('m1');
  await given.next();
  await new Promise((resolve) => setImmediate(resolve));
  send('m2');
  await given.next();
  refuse();
  expect(await problems.next()).toBe('invalid_request');
  expect(await acknowledged.next()).toEqual(['m2']);
  await client.close();
});

test('a client that was closed acknowledges nothing more, and leaves no timer', async () => {
  const { client, problems, loseAcknowledgements, open, send } = scene();
  client.messages.receive(() => {});
  await open();
  loseAcknowledgements(true);
  send('m1');
  expect(await problems.next()).toBe('draining');
  // The timer is set in the turn of the problem. Anything that is left fails the file (support/runner/leak-free.mjs).
  await client.close();
});

test('one that could not be taken stays in the mailbox, and is handed out when it comes again', async () => {
  const { client, acknowledged, open, send } = scene();
  const problems = makeInbox<string>(String);
  client.on('problem', ({ message }) => problems.push(message));
  let isReady = false;
  client.messages.receive(() => (isReady ? undefined : Promise.reject(new Error('the disk is full'))));
  await open();
  send('m1');
  expect(await problems.next()).toBe('the disk is full');
  expect(acknowledged.all).toEqual([]);
  isReady = true;
  send('m1', true);
  expect(await acknowledged.next()).toEqual(['m1']);
  await client.close();
});

test('what became of the clipboard while the stream could not go on is told, once', async () => {
  const { client, open, ready: becomeReady } = scene();
  const told = makeInbox<unknown>(String);
  client.on('clipboard', (change) => told.push(change));
  await open();
  becomeReady({ updated_at: 7, expires_at: 9 });
  const { source_device_id, source_device_name, updated_at, expires_at } = copied;
  expect(await told.next()).toEqual({ source_device_id, source_device_name, updated_at, expires_at, bytes: 5 });
  becomeReady({ updated_at: 7, expires_at: 9 });
  becomeReady(null);
  expect(await told.next()).toBeNull();
  expect(told.all).toHaveLength(2);
  await client.close();
});

test('a clipboard that was cleared while it was read is not told as set', async () => {
  const { client, open, ready: becomeReady, holdClipboard, clear } = scene();
  const told = makeInbox<unknown>(String);
  client.on('clipboard', (change) => told.push(change));
  await open();
  let give = () => {};
  const asked = holdClipboard(
    new Promise((resolve) => {
      give = resolve;
    }),
  );
  becomeReady({ updated_at: 7, expires_at: 9 });
  await asked;
  clear();
  expect(await told.next()).toBeNull();
  give();
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(told.all).toEqual([null]);
  await client.close();
});

test('a stream whose bytes do not hear of the abort ends all the same', async () => {
  const { client, open } = scene();
  await open();
  await client.close();
  expect(client.state).toBe('stopped');
});
