import { RouteIndex } from '../../../../services/sync/http/route-index.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../../shared/contract/routes.ts';

const rows = Object.entries<Route>(ROUTES);
const index = new RouteIndex<string>();
for (const [name, route] of rows) index.add(route, name);

test.each(rows)('%s is found under its own method and path', (name, { method, path }) => {
  const filled = path.replace(/\{\w+\}/g, 'a%20b');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter as string);
  expect(index.find(method, filled)).toEqual({
    served: name,
    params: Object.fromEntries(names.map((parameter) => [parameter, 'a b'])),
  });
});

test('a path of words alone is never taken for a parameter', () => {
  expect(index.find('GET', '/api/transfer/init')).toEqual({ served: null, methods: ['POST'] });
});

test('a parameter that is not valid percent-encoding is no text', () => {
  expect(() => index.find('GET', '/api/transfer/%zz')).toThrow(URIError);
});
