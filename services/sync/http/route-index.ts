import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { refusesHead } from '../../server/http/request-context.ts';

/** What stands under a path: what serves each method, and the methods in the order of their rows. */
interface Place<T> {
  readonly serving: Map<string, T>;
  /** Null for a path of words alone; else with a group for each parameter. */
  readonly pattern: RegExp | null;
}

export type Params = Record<string, unknown>;

/** What serves a request, or else the methods that would be served under this path; none for a path that does not exist. */
type Found<T> = { served: T; params: Params } | { served: null; methods: string[] };

const escaped = (text: string): string => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');

const patternOf = (path: string): RegExp | null =>
  path.includes('{') ? new RegExp(`^${escaped(path).replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`) : null;

const NO_PARAMS: Readonly<Params> = Object.freeze({});

/** @throws URIError for what is not valid percent-encoding */
const decoded = (groups: Readonly<Record<string, string>>): Params =>
  Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]));

/**
 * From method and path to a row in one look-up. A path has one spelling, so that an edge in front cannot see another class
 * in it; one of words alone is never taken for a parameter.
 */
export class RouteIndex<T> {
  readonly #literal = new Map<string, Place<T>>();
  readonly #patterns = new Map<string, Place<T>>();

  /** What GET answers HEAD is answered by too, where the row allows it and no other row does it. */
  add(route: Route, served: T): void {
    const pattern = patternOf(route.path);
    const places = pattern === null ? this.#literal : this.#patterns;
    const place = places.get(route.path) ?? { serving: new Map<string, T>(), pattern };
    places.set(route.path, place);
    place.serving.set(route.method, served);
    if (route.method === 'GET' && !refusesHead(route) && !place.serving.has('HEAD')) place.serving.set('HEAD', served);
  }

  find(method: string, path: string): Found<T> {
    const literal = this.#literal.get(path);
    if (literal === undefined) return this.#findPattern(method, path);
    const served = literal.serving.get(method);
    return served === undefined
      ? { served: null, methods: [...literal.serving.keys()] }
      : { served, params: NO_PARAMS };
  }

  #findPattern(method: string, path: string): Found<T> {
    const methods = new Set<string>();
    for (const { pattern, serving } of this.#patterns.values()) {
      const match = pattern?.exec(path);
      if (!match) continue;
      const served = serving.get(method);
      if (served !== undefined) return { served, params: decoded(match.groups ?? {}) };
      for (const other of serving.keys()) methods.add(other);
    }
    return { served: null, methods: [...methods] };
  }
}
