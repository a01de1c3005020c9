import { devices } from '../../../services/cli/commands/devices.ts';
import type { Context } from '../../../services/cli/context.ts';
import type { Device } from '../../../shared/client/index.ts';

const listOf = (name: string) => [{ name, type: 'linux', device_id: name, online: true, current: false } as Device];

test('a watched list of devices never goes back to an older one, although its answers come out of order', async () => {
  const shown: string[] = [];
  const answers: ((list: readonly Device[]) => void)[] = [];
  const listeners = new Map<string, () => void>();
  const over = new AbortController();
  const baton = {
    on: (name: string, listener: () => void) => listeners.set(name, listener),
    once: (name: string, listener: () => void) => listeners.set(name, listener),
    start: () => {},
    devices: { list: () => new Promise((resolve) => answers.push(resolve)) },
  };
  const context = {
    ...{ signal: over.signal, withClient: (work: (one: typeof baton) => unknown) => work(baton) },
    output: { isJson: true, result: (_: unknown, text: string) => void shown.push(text) },
  } as unknown as Context;
  const watching = devices(context, { watch: true, names: true });
  listeners.get('presence')?.();
  listeners.get('presence')?.();
  listeners.get('presence')?.();
  for (const place of [1, 0, 2]) answers[place]?.(listOf(`list ${place}`));
  await new Promise((resolve) => setImmediate(resolve));
  expect(shown).toEqual(['list 1', 'list 2']);
  over.abort();
  await watching.catch(() => {});
});
