import { BatonError } from '../../../shared/contract/errors.ts';
import type { Route } from '../../../shared/contract/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { isEventStream } from './request-facts.ts';

const escaped = (text: string): string => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');

const ROWS = Object.values<Route>(ROUTES).map((route) => ({
  pattern: new RegExp(`^${escaped(route.path).replace(/\{\w+\}/g, '[^/]+')}$`),
  methods: route.method === 'GET' && !isEventStream(route) ? ['GET', 'HEAD'] : [route.method],
}));

/** The methods that some row of the route table serves under this path; none for a path that does not exist. */
export const methodsOf = (path: string): string[] => [
  ...new Set(ROWS.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods)),
];

export const methodNotAllowed = (methods: readonly string[]): BatonError =>
  new BatonError('method_not_allowed', undefined, { headers: { Allow: methods.join(', ') } });
