import type { CliError } from '../../../services/cli/failure.ts';
import { noticingRefusals } from '../../../services/cli/foreign-refusals.ts';
import { BatonClientError } from '../../../shared/client/index.ts';

/* What counts as a refusal of something in front of the service, and for how long. */

const AWAY = 502;
const REFUSED = 404;

/** Makes the `fetch` of a command whose requests get the given statuses, one each second. */
function make() {
  let nowMs = 0;
  let status = 200;
  const told: string[] = [];
  const ends: CliError[] = [];
  const type = () => (status === 200 ? 'application/json' : 'text/html');
  const { fetch, explained } = noticingRefusals(
    async () => new Response('{}', { status, headers: { 'content-type': type() } }),
    { note: (text) => void told.push(text), giveUp: (error) => void ends.push(error), now: () => nowMs },
  );
  return {
    ...{ told, ends, explained },
    async get(path: string, given: number, times = 1) {
      status = given;
      for (let i = 0; i < times; i += 1) {
        nowMs += 1_000;
        await fetch(`http://baton${path}`, { method: 'GET' });
      }
    },
  };
}

test('an outage, and the first refusals after it, do not end a command', async () => {
  const { get, ends, told } = make();
  await get('/api/relay', AWAY, 60);
  await get('/api/relay', REFUSED, 20);
  expect(ends).toEqual([]);
  expect(told).toEqual([
    expect.stringContaining('answers 502, such as a proxy. Trying again'),
    expect.stringContaining('refuses it with 404, such as a proxy. Trying again'),
  ]);
  await get('/api/relay', REFUSED, 11);
  expect(ends).toMatchObject([{ code: 'refused_between' }]);
});

test('an outage between two refusals begins their time anew', async () => {
  const { get, ends } = make();
  await get('/api/relay', REFUSED, 20);
  await get('/api/relay', AWAY);
  await get('/api/relay', REFUSED, 20);
  expect(ends).toEqual([]);
});

test('an error is not explained by a refusal that is over', async () => {
  const { get, explained } = make();
  const error = new BatonClientError('unexpected_answer', 'This is another session now');
  await get('/api/messages', AWAY);
  expect(explained(error)).toMatchObject({ message: expect.stringContaining('answers 502') });
  await get('/api/relay', 200);
  expect(explained(error)).toBe(error);
});
