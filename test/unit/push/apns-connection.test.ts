import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { makeApnsConnection } from '../../../services/sync/push/senders/apns/apns-connection.ts';

const { jest } = import.meta;

test('a push that goes on after the close opens no connection, because nobody would close it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = jest.fn();
  server.on('connection', (socket) => connected(socket.destroy()));
  const { port } = server.address() as AddressInfo;
  const connection = makeApnsConnection({ origin: `https://127.0.0.1:${port}`, ca: undefined });
  await connection.close();

  const { signal } = new AbortController();
  await expect(connection.post({ headers: {}, path: '/', body: '', signal })).rejects.toThrow('broke');
  server.close();
  await once(server, 'close');
  expect(connected).not.toHaveBeenCalled();
});
