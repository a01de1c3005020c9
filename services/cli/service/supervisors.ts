import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../../shared/client/node/replace-file.ts';
import { configHome } from '../settings.ts';
import { commandIn as commandInPlist, LABEL, plistOf } from './launchd.ts';
import { mustRun, runProgram } from './running.ts';
import { commandIn as commandInUnit, unitOf } from './systemd.ts';
import { SERVICE_NAME, type ServiceTask } from './task.ts';
import { commandIn as commandInScript, endingOf, scriptOf, stateOf, taskOf } from './windows.ts';

export type ServiceState = 'running' | 'stopped' | 'not_installed';

/** The system's own way to run programs in the background for the user of this computer. */
export interface Supervisor {
  /** The file that describes the service. */
  readonly path: string;
  /** Returns the content of that file. */
  describe(task: ServiceTask): string;
  /** Writes the file and starts the service, even in place of an earlier one. */
  install(task: ServiceTask): Promise<void>;
  /** Stops the service and removes the file. */
  uninstall(): Promise<void>;
  state(): Promise<ServiceState>;
  /** Returns the program of the installed service, and the file that it runs. */
  programs(): string[];
}

/** Reads the beginning of a command from the file of a service; nothing if there is none. */
function programsAt(path: string, commandIn: (text: string) => string[]): string[] {
  try {
    return commandIn(readFileSync(path, 'utf8')).slice(0, 2);
  } catch {
    return [];
  }
}

/** Writes the whole file or nothing. */
async function write(path: string, text: string, encoding: 'utf8' | 'utf16le' = 'utf8'): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, Buffer.from(text, encoding));
}

/** The user's systemd. */
function systemd(): Supervisor {
  const unit = `${SERVICE_NAME}.service`;
  const path = join(configHome(), 'systemd', 'user', unit);
  const systemctl = (...args: string[]) => mustRun('systemctl', ['--user', ...args]);
  return {
    path,
    describe: unitOf,
    async install(task) {
      await write(path, unitOf(task));
      await systemctl('daemon-reload');
      await systemctl('enable', unit);
      // Also takes a changed unit into use.
      await systemctl('restart', unit);
    },
    async uninstall() {
      await systemctl('disable', '--now', unit);
      await rm(path, { force: true });
      await systemctl('daemon-reload');
    },
    async state() {
      if (!existsSync(path)) return 'not_installed';
      const { status } = await runProgram('systemctl', ['--user', 'is-active', '--quiet', unit]);
      return status === 0 ? 'running' : 'stopped';
    },
    programs: () => programsAt(path, commandInUnit),
  };
}

/** The launchd of macOS, for the session of the user. */
function launchd(): Supervisor {
  const path = join(homedir(), 'Library', 'LaunchAgents', `${LABEL}.plist`);
  const log = join(homedir(), 'Library', 'Logs', `${SERVICE_NAME}.log`);
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const describe = (task: ServiceTask) => plistOf(task, log);
  return {
    path,
    describe,
    async install(task) {
      await write(path, describe(task));
      // There may be no agent to end.
      await runProgram('launchctl', ['bootout', `${domain}/${LABEL}`]);
      await mustRun('launchctl', ['bootstrap', domain, path]);
    },
    async uninstall() {
      await runProgram('launchctl', ['bootout', `${domain}/${LABEL}`]);
      await rm(path, { force: true });
    },
    async state() {
      if (!existsSync(path)) return 'not_installed';
      const { status, said } = await runProgram('launchctl', ['print', `${domain}/${LABEL}`]);
      return status === 0 && /state = running/.test(said) ? 'running' : 'stopped';
    },
    programs: () => programsAt(path, commandInPlist),
  };
}

/** The task scheduler of Windows. `folder`: where its script lies, and the description until it is registered. */
function taskScheduler(folder: string): Supervisor {
  const path = join(folder, `${SERVICE_NAME}.xml`);
  const script = join(folder, `${SERVICE_NAME}.js`);
  const named = ['/TN', SERVICE_NAME];
  const powershell = (text: string) => runProgram('powershell', ['-NoProfile', '-NonInteractive', '-Command', text]);
  const describe = () => taskOf(script, userInfo().username);
  /** Ends what runs. There may be nothing, or a task of an older version, which has no script. */
  async function end(): Promise<void> {
    await powershell(endingOf(script));
    await runProgram('schtasks', ['/End', ...named]);
  }
  return {
    path,
    describe,
    async install(task) {
      await write(path, `\ufeff${describe()}`, 'utf16le');
      await write(script, scriptOf(task));
      // A task that runs would not be started again.
      await end();
      await mustRun('schtasks', ['/Create', ...named, '/XML', path, '/F']);
      await mustRun('schtasks', ['/Run', ...named]);
    },
    async uninstall() {
      await end();
      await mustRun('schtasks', ['/Delete', ...named, '/F']);
      for (const each of [path, script]) await rm(each, { force: true });
    },
    async state() {
      const { status } = await runProgram('schtasks', ['/Query', ...named]);
      if (status !== 0) return 'not_installed';
      return (await powershell(stateOf(SERVICE_NAME))).said === '4' ? 'running' : 'stopped';
    },
    programs: () => programsAt(script, commandInScript),
  };
}

/** Returns the supervisor of this platform; null if there is none. `folder`: the configuration folder. */
export function supervisorOf(platform: NodeJS.Platform, folder: string): Supervisor | null {
  if (platform === 'linux') return systemd();
  if (platform === 'darwin') return launchd();
  return platform === 'win32' ? taskScheduler(folder) : null;
}
