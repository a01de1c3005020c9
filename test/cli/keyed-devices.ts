import type { Terminal, Terminals } from './terminal.ts';

/* Devices of an encrypted account, as their users make them. */

export type Line = Record<string, unknown>;

const jsonLines = (text: string): Line[] =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

export const jsonOf = async (terminal: Terminal, ...args: string[]): Promise<Line[]> =>
  jsonLines((await terminal.ok([...args, '--json'])).stdout);

/**
 * Lets in a device that `asking` logs in, or that asks for keys by it. Returns the check codes of both, and the link.
 */
export async function approve(
  approver: Terminal,
  asking: ReturnType<Terminal['run']>,
  ...options: string[]
): Promise<[string, string, string]> {
  const [link] = await asking.says(/http:\/\/\S+\/link\?\S+/);
  const { stdout } = await approver.ok(['approve', link, '--yes', ...options]);
  expect([await asking.status, asking.stderr()]).toEqual([0, expect.any(String)]);
  const codeIn = (text: string) => /Check code: (\d{4})/.exec(text)?.[1] ?? '';
  return [codeIn(stdout), codeIn(asking.stdout()), link];
}

/** Makes a new account with these devices. The first has made its keys, and has let the others in. */
export async function devicesWithKeys(cli: Terminals, names: readonly string[]): Promise<Terminal[]> {
  const [first] = (await cli.devices(names[0] as string)) as [Terminal];
  await first.ok(['keys', 'create']);
  const all = [first];
  for (const name of names.slice(1)) {
    const terminal = cli.terminal();
    const [shown, taken] = await approve(first, terminal.run(['login', cli.door.url, '--name', name]));
    expect(shown).toMatch(/^\d{4}$/);
    expect(taken).toBe(shown);
    all.push(terminal);
  }
  return all;
}
