import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import { makeInbox } from '../../support/stream-recorder.ts';
import { uuid } from './answers.ts';
import { type Asked, fakeService } from './fake-service.ts';

const device = { device_id: 'desk-0001', name: 'Desk', type: 'linux' };
const transfer = {
  ...{ transfer_id: uuid(5), state: 'ACCEPTED', mode: 'relay', phase: 'accepted', error: null, sealed: null },
  ...{ sender: { device_id: 'phone-0001', name: 'Phone' }, receiver: { device_id: 'desk-0001', name: 'Desk' } },
  files: [{ index: 0, name: 'a', size: 1, type: null, sha256: null }],
  ...{ file_count: 1, total_bytes: 1, progress: { sent_bytes: 0, received_bytes: 0 } },
  ...{ created_at: 1, updated_at: 1, expires_at: 9_000_000_000_000 },
};
const ready = {
  ...{ resumed: false, reason: 'new', device, presence: { version: 1, devices: [] }, clipboard: null },
  ...{ pending: { messages: 0, transfers: 1 }, heartbeat_ms: 15_000, server_id: 's' },
};

test('a running transfer is read again once the store is back, although the stream stayed open', async () => {
  const asked = makeInbox<string>(String);
  let say = (_name: string, _data: unknown) => {};
  const answer = ({ path }: Asked) => {
    asked.push(path);
    if (path === '/api/transfer') return { body: { transfers: [], next_cursor: null } };
    if (path !== '/api/hub/events') return { body: { transfer } };
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        say = (name, data) =>
          controller.enqueue(new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
        say('ready', ready);
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  };
  const client = makeBatonClient({ baseUrl: 'http://service', fetch: fakeService(answer).fetch });
  client.start();
  await client.untilOnline();
  const offer = await client.transfers.incoming(uuid(5));
  offer.accept(() => ({ write() {}, close() {} }));
  const read = () => asked.all.filter((path) => path === `/api/transfer/${uuid(5)}`).length;
  while ((await asked.next()) !== `/api/transfer/${uuid(5)}/accept`);
  const before = read();
  say('degraded', { reason: 'store' });
  say('restored', { reason: 'store' });
  while (read() === before) await asked.next();
  expect(read()).toBe(before + 1);
  await client.close();
});
