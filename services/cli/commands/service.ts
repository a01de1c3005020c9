import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Context, deviceNamed } from '../context.ts';
import { CliError, EXIT, notSignedIn, usageError } from '../failure.ts';
import { oneLine } from '../output.ts';
import { downloadsFolder } from '../service/downloads.ts';
import { gone, lastingNode, lastingProgram } from '../service/programs.ts';
import { supervisorOf, type Supervisor } from '../service/supervisors.ts';
import type { ServiceTask } from '../service/task.ts';

interface ServiceOptions {
  dir?: string;
  from?: string;
  plain?: boolean;
  print?: boolean;
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
/** The variables that the service needs as this command has them: without some of them it would not reach the service. */
const KEPT_VARIABLES = [
  ...[
    'BATON_CONFIG_DIR',
    'BATON_URL',
    'XDG_CONFIG_HOME',
    'NODE_EXTRA_CA_CERTS',
    'NODE_USE_SYSTEM_CA',
    'NODE_USE_ENV_PROXY',
  ],
  ...PROXIES,
  ...PROXIES.map((name) => name.toLowerCase()),
];

/** Returns the path of this program, which must still be there at the next login. */
function programPath(): string {
  const path = lastingProgram(process.argv[1] as string);
  if (path !== null) return path;
  throw usageError('npx removes this program again. Install it first: npm install --global.');
}

/** Returns the mask of this process. It can be read only by setting it. */
function currentMask(): number {
  const mask = process.umask(0o077);
  process.umask(mask);
  return mask;
}

/** Leaves out the user and the password of addresses, such as that of a proxy. */
const withoutSecrets = (environment: ServiceTask['environment']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/(^|\/\/)[^/]*@/, '$1***@')]),
  );

function taskFor({ dir, from, plain }: ServiceOptions): ServiceTask {
  const folder = resolve(dir ?? downloadsFolder(process.platform));
  const node = lastingNode(process.execPath, process.env['PATH']);
  const command = [node, programPath(), 'receive', '--yes', '--notify', '--dir', folder];
  if (from !== undefined) command.push('--from', from);
  if (plain) command.push('--plain');
  const set = KEPT_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value ? [[name, value] as const] : [];
  });
  return { command, environment: Object.fromEntries(set), umask: currentMask() };
}

async function install(context: Context, supervisor: Supervisor, options: ServiceOptions): Promise<void> {
  const { output, session, signal } = context;
  const task = taskFor(options);
  if (options.print) {
    const content = supervisor.describe({ ...task, environment: withoutSecrets(task.environment) });
    return output.result({ path: supervisor.path, content }, content);
  }
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
  const state = await mustBeInstalled(supervisor);
  const [lost] = gone(supervisor.programs());
  if (lost !== undefined) {
    const message = `The service cannot start any more, because ${oneLine(lost)} is gone: \`baton service install\`.`;
    throw new CliError(message, { code: 'program_gone' });
  }
  if (state === 'stopped') {
    throw new CliError(`The service is installed and does not run. Its file is ${supervisor.path}.`, {
      code: 'stopped',
    });
  }
  output.result({ state: 'running', path: supervisor.path }, `The service runs. Its file is ${supervisor.path}.`);
}
