import type { Route } from '../../../shared/contract/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { refusesHead } from '../../server/http/request-context.ts';

const escaped = (text: string): string => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');

export const hasParameter = (route: Route): boolean => route.path.includes('{');

const ROWS = Object.values<Route>(ROUTES).map((route) => ({
  isLiteral: !hasParameter(route),
  pattern: new RegExp(`^${escaped(route.path).replace(/\{\w+\}/g, '[^/]+')}$`),
  methods: route.method === 'GET' && !refusesHead(route) ? ['GET', 'HEAD'] : [route.method],
}));

/**
 * The methods that some row of the route table serves under this path; none for a path that does not exist. A path of
 * words alone is never taken for a parameter.
 */
export function methodsOf(path: string): string[] {
  const matching = ROWS.filter(({ pattern }) => pattern.test(path));
  const literal = matching.filter(({ isLiteral }) => isLiteral);
  return [...new Set((literal.length > 0 ? literal : matching).flatMap(({ methods }) => methods))];
}

/** Paths of words alone that a row with a parameter would take for one, as `init` for the id of a transfer. */
export const wordsLikeParameters = (): string[] =>
  Object.values<Route>(ROUTES)
    .filter(({ path }) => ROWS.some(({ isLiteral, pattern }) => !isLiteral && pattern.test(path)))
    .filter((route) => !hasParameter(route))
    .map(({ path }) => path);
