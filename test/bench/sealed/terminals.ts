import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { devicesWithKeys } from '../../cli/keyed-devices.ts';
import { startCliSite, type Terminal } from '../../cli/terminal.ts';
import type { Compared } from './compared.ts';

/**
 * Sends a file by the command line, from one process to another, through the relay of a real replica. `moved` counts
 * from the moment when the receiver hears of the file, because an unsealed file is digested before that and a sealed
 * one is not.
 */
export async function startTerminals(mib: number, film: string): Promise<Compared<'whole' | 'moved'>> {
  const cli = await startCliSite();
  const pairs = {
    sealed: (await devicesWithKeys(cli, ['One', 'Two'])) as [Terminal, Terminal],
    plain: (await cli.devices('One', 'Two')) as [Terminal, Terminal],
  };
  return {
    async measure(kind) {
      const [one, two] = pairs[kind];
      const receiving = two.run(['receive', '--dir', 'in', '--yes', '--once']);
      await receiving.says(/Waiting for/);
      const startedAt = performance.now();
      const sending = one.run(['send', film, '--to', 'Two']);
      await receiving.says(/ sends /);
      const heardAt = performance.now();
      const statuses = await Promise.all([sending.status, receiving.status]);
      const endedAt = performance.now();
      expect([statuses, sending.stderr(), receiving.stderr()]).toEqual([
        [0, 0],
        expect.any(String),
        expect.any(String),
      ]);
      expect(sending.stdout().includes('\u{1F512}')).toBe(kind === 'sealed');
      rmSync(join(two.folder, 'in'), { recursive: true });
      return { whole: mib / ((endedAt - startedAt) / 1_000), moved: mib / ((endedAt - heardAt) / 1_000) };
    },
    stop: () => cli.stop(),
  };
}
