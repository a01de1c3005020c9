import type { BatonClientOptions } from '../../../shared/client/api.ts';
import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import { makeEmitter } from '../../../shared/client/emitter.ts';

const baseUrl = 'http://localhost:9';

test.each([
  ['no address', {}, 'baseUrl is no string or function'],
  ['an address of another type', { baseUrl: 7 }, 'baseUrl is no string or function'],
  ['no options at all', undefined, 'baseUrl is no string or function'],
  ['a misspelt option', { baseUrl, header: {} }, 'header is no option'],
  ['a session that is null', { baseUrl, session: null }, 'session is no object'],
  ['a fetch that is none', { baseUrl, fetch: {} }, 'fetch is no function'],
  ['a name of an inherited member', { baseUrl, toString: 1 }, 'toString is no option'],
])('%s is refused at once', (_, options, message) => {
  expect(() => makeBatonClient(options as unknown as BatonClientOptions)).toThrow(
    expect.objectContaining({ name: 'BatonClientError', code: 'invalid_request', message }),
  );
});

test('options that are undefined are left out', () => {
  expect(() => makeBatonClient({ baseUrl, fetch: undefined } as unknown as BatonClientOptions)).not.toThrow();
});

test('a signal that times out is told from one that is aborted', async () => {
  const never = (_: string, { signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const client = makeBatonClient({ baseUrl, fetch: never });
  const late = client.me({ signal: AbortSignal.timeout(1), retries: 0 });
  await expect(late).rejects.toMatchObject({ code: 'timeout', action: 'retry', outcome: 'unknown' });
  await expect(client.untilOnline({ signal: AbortSignal.timeout(1) })).rejects.toMatchObject({ code: 'timeout' });
  const controller = new AbortController();
  const aborted = client.me({ signal: controller.signal });
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'aborted', action: 'tell-user' });
});

describe('a listener', () => {
  interface Events {
    one: number;
    other: number;
  }
  function scene() {
    const thrown: unknown[] = [];
    const heard: string[] = [];
    const emitter = makeEmitter<Events>((error) => thrown.push(error));
    const hear = (event: number) => void heard.push(`${event}`);
    return { emitter, heard, hear, thrown };
  }

  test('of once hears one event, also when it throws or emits the same event again', () => {
    const { emitter, heard, hear, thrown } = scene();
    emitter.once('one', hear);
    const end = emitter.once('other', hear);
    end();
    emitter.once('one', (event) => {
      emitter.emit('one', event + 1);
      throw new Error('no');
    });
    emitter.emit('one', 1);
    emitter.emit('one', 3);
    emitter.emit('other', 4);
    expect(heard).toEqual(['1']);
    expect(thrown).toHaveLength(1);
  });

  test('of once hears one event where a listener before it emits the next', () => {
    const { emitter, heard, hear } = scene();
    emitter.once('one', (event) => emitter.emit('one', event + 1));
    emitter.once('one', hear);
    emitter.emit('one', 1);
    expect(heard).toEqual(['2']);
  });

  test('that listens twice is called twice, and off ends one of them', () => {
    const { emitter, heard, hear } = scene();
    emitter.on('one', hear);
    emitter.once('one', hear);
    emitter.on('other', hear);
    emitter.emit('one', 1);
    emitter.off('one', hear);
    emitter.emit('one', 2);
    emitter.off('one', hear);
    emitter.emit('other', 3);
    expect(heard).toEqual(['1', '1', '3']);
  });
});
