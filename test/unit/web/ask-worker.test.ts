import type { FileAnswer, FileRequest } from '../../../services/web/files/file-worker.ts';
import { shared } from '../../../services/web/engine/shared-state.ts';

/** Whether the service has the file of the worker, and how many workers were started. */
const service = { hasWorker: true, started: 0 };

/** A worker that answers everything, once it was loaded. */
class Answering {
  #onMessage: (event: { data: FileAnswer }) => void = () => {};
  readonly #isLoaded = service.hasWorker;

  constructor() {
    service.started += 1;
  }

  addEventListener(name: string, listener: (event: { data: FileAnswer }) => void): void {
    if (name === 'message') this.#onMessage = listener;
    else if (!this.#isLoaded) setImmediate(listener as unknown as () => void);
  }

  terminate(): void {}

  postMessage({ turn }: FileRequest): void {
    if (this.#isLoaded) setImmediate(() => this.#onMessage({ data: { turn, value: 0 } }));
  }
}

Object.assign(globalThis, { window: {}, Worker: Answering });
const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, ...made: unknown[]) => void };
};
jest.unstable_mockModule('virtual:worker-address', () => ({ workerAddress: '/assets/worker.js' }), { virtual: true });
const { askWorker, isWorkerGone, readyWorker } = await import('../../../services/web/files/ask-worker.ts');

const ask = () => askWorker({ act: 'close', file: 1 });
const codeOf = (work: Promise<unknown>) => work.then(String, (error: unknown) => (error as { code: string }).code);

test('a worker that the service drops is not the same as a service that is away, and is tried again', async () => {
  service.hasWorker = false;
  const codes: string[] = [];
  for (let tries = 0; tries < 4; tries += 1) codes.push(await codeOf(ask()));
  expect(codes).toEqual(['network', 'network', 'network', 'network']);
  shared.value = { ...shared.value, connection: 'online' };
  await expect(ask()).rejects.toMatchObject({ code: 'not_loaded', action: 'retry' });
  expect(isWorkerGone.value).toBe(true);
  service.hasWorker = true;
  expect(await ask()).toBe(0);
  expect(isWorkerGone.value).toBe(false);
});

test('a worker that was started needs nothing of the service', async () => {
  readyWorker();
  const { started } = service;
  service.hasWorker = false;
  readyWorker();
  expect(await ask()).toBe(0);
  expect(service.started).toBe(started);
});
