import { devices } from '../../../services/cli/commands/devices.ts';
import type { Context } from '../../../services/cli/context.ts';
import type { Device } from '../../../shared/client/index.ts';

const listOf = (name: string) => [{ name, type: 'linux', device_id: name, online: true, current: false } as Device];

/** Watches the devices of a client whose answers the test gives. */
function watch() {
  const shown: string[] = [];
  const answers: ((list: readonly Device[]) => void)[] = [];
  const listeners = new Map<string, (list?: readonly Device[]) => void>();
  const over = new AbortController();
  const baton = {
    on: (name: string, listener: () => void) => listeners.set(name, listener),
    once: (name: string, listener: () => void) => listeners.set(name, listener),
    start: () => {},
    devices: { list: () => new Promise((resolve) => answers.push(resolve)) },
  };
  const context = {
    ...{ signal: over.signal, withEndlessClient: (work: (one: typeof baton) => unknown) => work(baton) },
    output: { isJson: true, result: (_: unknown, text: string) => void shown.push(text) },
  } as unknown as Context;
  const watching = devices(context, { watch: true, names: true });
  return {
    shown,
    hears: (name: 'presence' | 'devices', list?: string) =>
      listeners.get(name)?.(list === undefined ? [] : listOf(list)),
    async answers(list: string) {
      answers.shift()?.(listOf(list));
      await new Promise((resolve) => setImmediate(resolve));
    },
    async stop() {
      over.abort();
      await watching.catch(() => {});
    },
  };
}

test('a watched list of devices is read once more when something was heard during the request', async () => {
  const { shown, hears, answers, stop } = watch();
  hears('presence');
  hears('presence');
  hears('presence');
  await answers('older');
  await answers('newer');
  await answers('not asked');

  expect(shown).toEqual(['newer']);
  await stop();
});

test('a list that was asked for before a device was removed is not shown after that', async () => {
  const { shown, hears, answers, stop } = watch();
  hears('presence');
  hears('devices', 'without it');
  await answers('with it');
  await answers('the newest');

  expect(shown).toEqual(['without it', 'the newest']);
  await stop();
});
