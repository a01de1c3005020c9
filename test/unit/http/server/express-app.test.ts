import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HeaderBlock } from '../../../../services/server/http/header-block.ts';
import { makeExpress, messageClasses } from '../../../../services/server/http/express-app.ts';

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

type Answer = (res: ServerResponse<IncomingMessage>) => void;

const ANSWERS: Record<string, [Answer, Record<string, string | null>]> = {
  'of Express': [
    (res) => (res as unknown as { json: (body: object) => void }).json({}),
    { 'x-common': 'a', 'content-length': '2' },
  ],
  'without a body': [(res) => res.end(), { 'x-common': 'a', 'content-length': '0' }],
  'with a header of its own by that name': [(res) => res.setHeader('X-Common', 'own').end(), { 'x-common': 'own' }],
  'with a head of its own, spelt otherwise': [
    (res) => res.writeHead(200, { 'x-common': 'own' }).end(),
    { 'x-common': 'own' },
  ],
  'with a reason': [(res) => res.writeHead(200, 'Fine', { 'X-Other': 'b' }).end(), { 'x-common': 'a', 'x-other': 'b' }],
  'with a flat list of headers': [
    (res) => res.writeHead(200, ['x-common', 'own', 'X-Other', 'b']).end(),
    { 'x-common': 'own', 'x-other': 'b' },
  ],
  'with a list of pairs': [
    (res) => res.writeHead(200, [['X-Other', 'b'] as never, ['x-common', 'own'] as never]).end(),
    { 'x-common': 'own', 'x-other': 'b' },
  ],
  'with no headers, as null': [(res) => res.writeHead(200, null as never).end(), { 'x-common': 'a' }],
  'with two cookies': [
    (res) => res.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'] }).end(),
    { 'x-common': 'a', 'set-cookie': 'a=1, b=2' },
  ],
  'with a head beside headers that were set': [
    (res) => res.setHeader('X-Set', 'c').writeHead(200, { 'X-Other': 'b' }).end(),
    { 'x-common': 'a', 'x-other': 'b', 'x-set': 'c' },
  ],
  'whose head is sent before its body': [
    (res) => {
      res.flushHeaders();
      res.end('later');
    },
    { 'x-common': 'a', 'transfer-encoding': 'chunked' },
  ],
};

test.each(Object.entries(ANSWERS))(
  'an answer %s has the common headers once, unless it has its own',
  async (_, [act, expected]) => {
    const common = new HeaderBlock([['X-Common', 'a']]);
    const app = makeExpress((_res, own) => common.linesWithout(own));
    app.use((_req, res) => act(res));
    const server = createServer(messageClasses(app), app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, headers.get(name)]));
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    expect(found).toEqual(expected);
  },
);
