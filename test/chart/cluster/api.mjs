import { Agent, request as httpsRequest } from 'node:https';

/*
 * The API of Kubernetes for one caller. `call` returns `{status, body, warnings}` whatever the status is; `get`, `create` and
 * the others throw unless the call succeeds. `until` waits for an event, never for a time.
 */

const WITHIN_MS = 180_000;
const CREATED_BY_TEST = '?fieldManager=chart-test';

const keyOf = ({ kind, metadata }) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;

/** Returns the texts of a Warning header: `299 - "text"`. */
const warningsOf = (headers) => [headers.warning ?? []].flat().flatMap((line) => line.split(/, (?=299 )/));

/** Returns the interesting part of a list that did not become what it should. */
const digest = (items) => JSON.stringify(items.map(({ metadata, status }) => ({ name: metadata.name, status })));

/** Returns the word for a kind in the path of its objects. */
export const pluralOf = (kind) => kind.toLowerCase().replace(/y$/, 'ie').replace(/ss$/, 'sse').concat('s');

/** Returns the path of objects like this one, in a namespace. */
export function pathOf({ apiVersion, kind }, namespace) {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${group}/namespaces/${namespace}/${pluralOf(kind)}`;
}

export function makeApi({ port, ca, token }) {
  const agent = new Agent({ ca, keepAlive: true });
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };

  const open = (method, path, { body, type = 'application/json', signal } = {}) =>
    new Promise((resolve, reject) => {
      const options = { method, host: '127.0.0.1', port, path, agent, headers: { ...headers, 'content-type': type } };
      const request = httpsRequest({ ...options, signal }, resolve);
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });

  async function call(method, path, options) {
    const answer = await open(method, path, options);
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    const isJson = answer.headers['content-type']?.includes('json');
    return { status: answer.statusCode, body: isJson ? JSON.parse(text) : text, warnings: warningsOf(answer.headers) };
  }

  async function must(method, path, options) {
    const { status, body } = await call(method, path, options);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${body.message ?? body}`);
    return body;
  }

  /**
   * Passes each new state of the list at `path` to `look` until it says that it has seen enough, or until the signal ends it.
   */
  async function watch(path, look, signal) {
    const join = path.includes('?') ? '&' : '?';
    while (!signal.aborted) {
      const list = await must('GET', path, { signal });
      const kind = list.kind.replace(/List$/, '');
      const seen = new Map(list.items.map((item) => [keyOf({ ...item, kind }), { ...item, kind }]));
      if (look([...seen.values()])) return;
      const from = `${path}${join}watch=1&resourceVersion=${list.metadata.resourceVersion}`;
      const answer = await open('GET', from, { signal });
      let rest = '';
      for await (const chunk of answer.setEncoding('utf8')) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        const events = lines.map((line) => JSON.parse(line));
        // The history that it starts from is gone, so it starts again from the list.
        if (events.some(({ type }) => type === 'ERROR')) break;
        for (const { type, object } of events) {
          if (type === 'DELETED') seen.delete(keyOf(object));
          else seen.set(keyOf(object), object);
          if (look([...seen.values()])) return;
        }
      }
    }
  }

  /** Resolves to the result of `isTrue` for the list at `path`, once there is one. */
  async function until(path, isTrue, what = String(isTrue)) {
    const signal = AbortSignal.timeout(WITHIN_MS);
    let [found, last] = [null, []];
    const look = (items) => {
      last = items;
      found = isTrue(items);
      return Boolean(found);
    };
    await watch(path, look, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
    if (!found) throw new Error(`never came true: ${what}\n${digest(last)}`);
    return found;
  }

  return {
    call,
    get: (path) => must('GET', path),
    create: (path, body) => must('POST', path + CREATED_BY_TEST, { body }),
    patch: (path, body) => must('PATCH', path, { body, type: 'application/merge-patch+json' }),
    patchStatus: (path, body) =>
      must('PATCH', `${path}/status`, { body, type: 'application/strategic-merge-patch+json' }),
    remove: (path) => must('DELETE', path),
    watch,
    until,
    close: async () => agent.destroy(),
  };
}
