import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { notifierOf } from '../../../services/cli/receiving/notifying.ts';
import { plistOf } from '../../../services/cli/service/launchd.ts';
import { unitOf } from '../../../services/cli/service/systemd.ts';
import { taskOf, windowsWord } from '../../../services/cli/service/windows.ts';

/** An unlikely but possible folder. */
const HOSTILE = `/home/a b/"q" 'q' 100% $HOME \\n <&> é日本 ${'\u{1f4c1}'}`;
const COMMAND = ['/usr/bin/node', '/opt/baton.js', 'receive', '--yes', '--dir', HOSTILE];
const ENVIRONMENT = { BATON_CONFIG_DIR: HOSTILE };

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
    writeFileSync(path, unitOf({ command: [process.execPath, ...COMMAND.slice(1)], environment: ENVIRONMENT }));
    const said = execFileSync('systemd-analyze', ['--user', '--man=no', 'verify', path], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder },
      stdio: 'pipe',
    });
    expect(said).toBe('');
  });

  test('of systemd has every word of its command as it is', () => {
    const unit = unitOf({ command: COMMAND, environment: ENVIRONMENT });
    expect(unit).toContain(`"--dir" "/home/a b/\\"q\\" 'q' 100%% $$HOME \\\\n <&> é日本 ${'\u{1f4c1}'}"`);
    expect(unit).toContain(`Environment="BATON_CONFIG_DIR=/home/a b/\\"q\\" 'q' 100%% $HOME \\\\n`);
    expect(unitOf({ command: ['/bin/true', 'a\nExecStartPre=/bin/false'], environment: {} })).toContain(
      'ExecStart="/bin/true" "a\\nExecStartPre=/bin/false"\n',
    );
  });

  test('of launchd is a property list with every word of its command', () => {
    const read = 'import plistlib, sys, json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const plist = python(
      read,
      plistOf({ command: COMMAND, environment: ENVIRONMENT }, '/Users/a/Library/Logs/<b>.log'),
    );
    expect(plist).toMatchObject({
      ...{ Label: 'org.baton.receive', ProgramArguments: COMMAND, EnvironmentVariables: ENVIRONMENT, RunAtLoad: true },
      ...{ KeepAlive: { SuccessfulExit: false }, StandardErrorPath: '/Users/a/Library/Logs/<b>.log' },
    });
  });

  test('of Windows is a task whose command line is read as it was meant', () => {
    const command = ['C:\\Program Files\\node.exe', 'receive', '--dir', 'C:\\a b\\"q"\\', ''];
    const read = `
import sys, json, xml.etree.ElementTree as tree
task = tree.fromstring(sys.stdin.buffer.read().decode('utf-16'))
find = lambda path: task.find('/'.join('{http://schemas.microsoft.com/windows/2004/02/mit/task}' + one for one in path.split('/'))).text
print(json.dumps([find('Actions/Exec/Command'), find('Actions/Exec/Arguments'), find('Triggers/LogonTrigger/UserId')]))`;
    const xml = Buffer.from(`\ufeff${taskOf({ command }, 'A&B\\ann')}`, 'utf16le');
    expect(python(read, xml)).toEqual([
      'C:\\Program Files\\node.exe',
      '"receive" "--dir" "C:\\a b\\\\\\"q\\"\\\\" ""',
      'A&B\\ann',
    ]);
    expect(windowsWord('a\\b')).toBe('"a\\b"');
  });

  test.each([
    ['launchd', () => plistOf({ command: ['/bin/a\u0001'], environment: {} }, '/log')],
    ['Windows', () => taskOf({ command: ['a', '\ufffe'] }, 'ann')],
  ])('of %s is not written with a character that XML cannot have', (_, make) => {
    expect(make).toThrow('control characters');
  });
});

test('a notification has foreign words as arguments or variables, never as a part of a script', () => {
  const text = '-e $(touch x) <b>"';
  expect(notifierOf('linux', 'T', text)?.args).toEqual(['--app-name=Baton', '--', 'T', '-e $(touch x) &lt;b&gt;"']);
  expect(notifierOf('darwin', 'T', text)?.args.slice(-2)).toEqual(['T', text]);
  expect(notifierOf('win32', 'T', text)).toMatchObject({ environment: { BATON_TITLE: 'T', BATON_TEXT: text } });
  expect(notifierOf('win32', 'T', text)?.args.join(' ')).not.toContain('touch');
  expect(notifierOf('aix', 'T', text)).toBe(null);
});
