import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeExpress, messageClasses } from '../../../../shared/service-kit/http/express-app.ts';

test('requests and responses come with the prototypes of Express, which has none to change', async () => {
  const app = makeExpress();
  const classes = messageClasses(app);
  const seen: boolean[] = [];
  app.use((req, res) => {
    res.json({ path: req.path });
  });
  const server = createServer(classes, (req, res) => {
    const before = [Object.getPrototypeOf(req), Object.getPrototypeOf(res)];
    app(req, res);
    seen.push(Object.getPrototypeOf(req) === before[0] && Object.getPrototypeOf(res) === before[1]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/here`);
  expect([await response.json(), seen]).toEqual([{ path: '/here' }, [true]]);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
