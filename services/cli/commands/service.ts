import { mkdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { type Context, deviceNamed } from '../context.ts';
import { CliError, EXIT, notSignedIn, usageError } from '../failure.ts';
import { oneLine } from '../output.ts';
import { supervisorOf, type Supervisor } from '../service/supervisors.ts';
import type { ServiceTask } from '../service/task.ts';

interface ServiceOptions {
  dir?: string;
  from?: string;
  plain?: boolean;
  print?: boolean;
}

/** The variables that the service needs as this command has them. */
const KEPT_VARIABLES = ['BATON_CONFIG_DIR', 'BATON_URL', 'XDG_CONFIG_HOME'];

/** Returns the path of this program, which must still be there at the next login. */
function programPath(): string {
  const path = realpathSync(process.argv[1] as string);
  if (!path.includes(`${sep}_npx${sep}`)) return path;
  throw usageError('npx removes this program again. Install it first: npm install --global.');
}

function taskFor({ dir, from, plain }: ServiceOptions): ServiceTask {
  const folder = resolve(dir ?? join(homedir(), 'Downloads'));
  const command = [process.execPath, programPath(), 'receive', '--yes', '--notify', '--dir', folder];
  if (from !== undefined) command.push('--from', from);
  if (plain) command.push('--plain');
  const set = KEPT_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value ? [[name, value] as const] : [];
  });
  return { command, environment: Object.fromEntries(set) };
}

async function install(context: Context, supervisor: Supervisor, options: ServiceOptions): Promise<void> {
  const { output, session, signal } = context;
  const task = taskFor(options);
  if (options.print)
    return output.result({ path: supervisor.path, content: supervisor.describe(task) }, supervisor.describe(task));
  if ((await session.load()) === null) throw notSignedIn();
  const { from } = options;
  // A misspelt name would receive nothing, and nobody would see it.
  if (from !== undefined) await context.withClient((baton) => deviceNamed(baton, from, signal));
  const folder = task.command[task.command.indexOf('--dir') + 1] as string;
  mkdirSync(folder, { recursive: true });
  await supervisor.install(task);
  const text = `Files are received in the background from now on. They go to ${oneLine(folder)}.`;
  output.result({ state: 'running', path: supervisor.path, dir: folder }, text);
  if (process.platform === 'linux') {
    output.note('It ends when you log out. `loginctl enable-linger` keeps it running.');
  }
}

async function mustBeInstalled(supervisor: Supervisor): Promise<'running' | 'stopped'> {
  const state = await supervisor.state();
  if (state !== 'not_installed') return state;
  const message = 'The service is not installed: `baton service install`.';
  throw new CliError(message, { status: EXIT.notFound, code: 'not_installed' });
}

/** Installs, removes or shows the service that receives files in the background. */
export async function service(context: Context, action: string, options: ServiceOptions): Promise<void> {
  const { output, settings } = context;
  const supervisor = supervisorOf(process.platform, settings.folder);
  if (supervisor === null) throw usageError('Baton knows no services of this platform.');
  if (action === 'install') return await install(context, supervisor, options);
  if (action === 'uninstall') {
    await mustBeInstalled(supervisor);
    await supervisor.uninstall();
    return output.result({ state: 'not_installed' }, 'Files are no longer received in the background.');
  }
  if (action !== 'status') throw usageError('baton service takes install, uninstall or status.');
  if ((await mustBeInstalled(supervisor)) === 'stopped') {
    throw new CliError(`The service is installed and does not run. Its file is ${supervisor.path}.`, {
      code: 'stopped',
    });
  }
  output.result({ state: 'running', path: supervisor.path }, `The service runs. Its file is ${supervisor.path}.`);
}
