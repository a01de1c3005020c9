import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { notifierOf } from '../../../services/cli/receiving/notifying.ts';
import { downloadsFolder } from '../../../services/cli/service/downloads.ts';
import { commandIn as commandInPlist, plistOf } from '../../../services/cli/service/launchd.ts';
import { lastingNode } from '../../../services/cli/service/programs.ts';
import { commandIn as commandInUnit, unitOf } from '../../../services/cli/service/systemd.ts';
import { commandIn as commandInScript, scriptOf, taskOf, windowsWord } from '../../../services/cli/service/windows.ts';

/** An unlikely but possible folder. */
const HOSTILE = `/home/a b/"q" 'q' 100% $HOME \\n <&> é日本 ${'\u{1f4c1}'}`;
const COMMAND = ['/usr/bin/node', '/opt/baton.js', 'receive', '--yes', '--dir', HOSTILE];
const ENVIRONMENT = { BATON_CONFIG_DIR: HOSTILE };
const TASK = { command: COMMAND, environment: ENVIRONMENT, umask: 0o027 };

/** Runs Python, whose library reads both kinds of files. */
const python = (script: string, input: string | Buffer): unknown =>
  JSON.parse(execFileSync('python3', ['-c', script], { input, encoding: 'utf8' }));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-service-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a service', () => {
  test('of systemd is a unit that systemd-analyze takes', () => {
    const path = join(folder, 'baton-receive.service');
    writeFileSync(path, unitOf({ ...TASK, command: [process.execPath, ...COMMAND.slice(1)] }));
    const said = execFileSync('systemd-analyze', ['--user', '--man=no', 'verify', path], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder },
      stdio: 'pipe',
    });
    expect(said).toBe('');
  });

  test('of systemd has every word of its command as it is', () => {
    const unit = unitOf(TASK);
    expect(commandInUnit(unit)).toEqual(COMMAND);
    expect(unit).toContain(`"--dir" "/home/a b/\\"q\\" 'q' 100%% $$HOME \\\\n <&> é日本 ${'\u{1f4c1}'}"`);
    expect(unit).toContain(`Environment="BATON_CONFIG_DIR=/home/a b/\\"q\\" 'q' 100%% $HOME \\\\n`);
    expect(unitOf({ ...TASK, command: ['/bin/true', 'a\nExecStartPre=/bin/false'] })).toContain(
      'ExecStart="/bin/true" "a\\nExecStartPre=/bin/false"\n',
    );
  });

  test('of launchd is a property list with every word of its command', () => {
    const read = 'import plistlib, sys, json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const text = plistOf(TASK, '/Users/a/Library/Logs/<b>.log');
    expect(commandInPlist(text)).toEqual(COMMAND);
    expect(python(read, text)).toMatchObject({
      ...{ Label: 'org.baton.receive', ProgramArguments: COMMAND, EnvironmentVariables: ENVIRONMENT, RunAtLoad: true },
      ...{ Umask: 0o027, KeepAlive: { SuccessfulExit: false }, StandardErrorPath: '/Users/a/Library/Logs/<b>.log' },
    });
  });

  test('of Windows is a script that runs the command without a window and ends with its status', () => {
    const command = ['C:\\Program Files\\nodé.exe', 'C:\\baton.js', '--dir', 'C:\\a b\\"q"\\', ''];
    const script = scriptOf({ command });
    expect(script).toMatch(/^[\n -~]+$/);
    expect(commandInScript(script)).toEqual(command.slice(0, 2));
    const said: unknown[] = [];
    class ActiveXObject {
      Run = (...args: unknown[]) => said.push(args) + 2;
    }
    runInNewContext(script, { ActiveXObject, WScript: { Quit: (status: number) => said.push(status) } });
    const line = '"C:\\Program Files\\nodé.exe" "C:\\baton.js" "--dir" "C:\\a b\\\\\\"q\\"\\\\" ""';
    expect(said).toEqual([[line, 0, true], 3]);
  });

  test('of Windows is a task that tries again every five minutes', () => {
    const read = `
import sys, json, xml.etree.ElementTree as tree
task = tree.fromstring(sys.stdin.buffer.read().decode('utf-16'))
find = lambda path: task.find('/'.join('{http://schemas.microsoft.com/windows/2004/02/mit/task}' + one for one in path.split('/'))).text
print(json.dumps([find('Actions/Exec/Command'), find('Actions/Exec/Arguments'), find('Triggers/LogonTrigger/UserId'), find('Triggers/LogonTrigger/Repetition/Interval'), find('Settings/Priority')]))`;
    const xml = Buffer.from(`\ufeff${taskOf('C:\\a b\\baton.js', 'A&B\\ann')}`, 'utf16le');
    expect(python(read, xml)).toEqual([
      'wscript.exe',
      '//B //Nologo //E:JScript "C:\\a b\\baton.js"',
      ...['A&B\\ann', 'PT5M', '6'],
    ]);
    expect(windowsWord('a\\b')).toBe('"a\\b"');
  });

  test.each([
    ['launchd', () => plistOf({ ...TASK, command: ['/bin/a\u0001'] }, '/log')],
    ['Windows', () => taskOf('\ufffe', 'ann')],
  ])('of %s is not written with a character that XML cannot have', (_, make) => {
    expect(make).toThrow('control characters');
  });
});

test.each([
  ['XDG_DOWNLOAD_DIR="$HOME/Téléchargements"', join(homedir(), 'Téléchargements')],
  ['# XDG_DOWNLOAD_DIR="$HOME/Old"\n XDG_DOWNLOAD_DIR = "/data/a \\"b\\""', '/data/a "b"'],
  ['XDG_DOWNLOAD_DIR="$HOME/"', join(homedir(), 'Downloads')],
  ['XDG_DOWNLOAD_DIR="relative"', join(homedir(), 'Downloads')],
  ['XDG_DESKTOP_DIR="$HOME/Bureau"', join(homedir(), 'Downloads')],
])('the folder for downloads on Linux is that of user-dirs.dirs: %s', (text, expected) => {
  const before = process.env['XDG_CONFIG_HOME'];
  process.env['XDG_CONFIG_HOME'] = folder;
  try {
    writeFileSync(join(folder, 'user-dirs.dirs'), `# written by hand\n${text}\n`);
    expect(downloadsFolder('linux')).toBe(expected);
    expect(downloadsFolder('darwin')).toBe(join(homedir(), 'Downloads'));
  } finally {
    if (before === undefined) delete process.env['XDG_CONFIG_HOME'];
    else process.env['XDG_CONFIG_HOME'] = before;
  }
});

test('the Node of a service is a link that an upgrade keeps, and no link of one shell', () => {
  const at = (path: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    return join(folder, path);
  };
  const cellar = at('brew/Cellar/node@24/24.1.0/bin/node');
  const nvm = at('nvm/versions/node/v24.1.0/bin/node');
  for (const path of [cellar, nvm]) writeFileSync(path, '');
  symlinkSync(cellar, at('brew/opt/node@24/bin/node'));
  symlinkSync(nvm, at('fnm_multishells/12_34/bin/node'));
  symlinkSync(nvm, at('stable/node'));
  symlinkSync(cellar, at('other/node'));
  expect(lastingNode(cellar)).toBe(join(folder, 'brew/opt/node@24/bin/node'));
  const searched = ['fnm_multishells/12_34/bin', 'nvm/versions/node/v24.1.0/bin', 'other', 'none'].map((each) =>
    join(folder, each),
  );
  expect(lastingNode(nvm, searched.join(':'))).toBe(nvm);
  expect(lastingNode(nvm, [...searched, join(folder, 'stable')].join(':'))).toBe(join(folder, 'stable/node'));
});

test('a notification has foreign words as arguments or variables, never as a part of a script', () => {
  const text = '-e $(touch x) <b>"';
  expect(notifierOf('linux', 'T', text)?.args).toEqual(['--app-name=Baton', '--', 'T', '-e $(touch x) &lt;b&gt;"']);
  expect(notifierOf('darwin', 'T', text)?.args.slice(-2)).toEqual(['T', text]);
  expect(notifierOf('win32', 'T', text)).toMatchObject({ environment: { BATON_TITLE: 'T', BATON_TEXT: text } });
  expect(notifierOf('win32', 'T', text)?.args.join(' ')).not.toContain('touch');
  expect(notifierOf('aix', 'T', text)).toBe(null);
});
