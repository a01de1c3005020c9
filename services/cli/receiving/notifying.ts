import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { deviceNameOf, type Output, oneLine } from '../output.ts';
import { environmentWith } from '../settings.ts';
import { namesOf } from './names.ts';

/** A program that shows a notification. */
export interface Notifier {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Reads title and text from variables, so that they are not part of the script. */
const TOAST = `
$types = 'Windows.UI.Notifications.ToastNotificationManager', 'Windows.Data.Xml.Dom.XmlDocument'
foreach ($type in $types) { [void][Type]::GetType("$type, $($type.Substring(0, $type.LastIndexOf('.'))), ContentType=WindowsRuntime") }
$escape = { param($text) [System.Security.SecurityElement]::Escape($text) }
$xml = New-Object Windows.Data.Xml.Dom.XmlDocument
$xml.LoadXml("<toast><visual><binding template='ToastGeneric'><text>$(& $escape $env:BATON_TITLE)</text><text>$(& $escape $env:BATON_TEXT)</text></binding></visual></toast>")
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($xml))
`;

/** Notification servers of Linux read a part of HTML in the text (Desktop Notifications Specification, "Markup"). */
const withoutMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns the program that shows a notification on a platform; null if none is known. */
export function notifierOf(platform: NodeJS.Platform, title: string, text: string): Notifier | null {
  if (platform === 'linux') {
    return { program: 'notify-send', args: ['--app-name=Baton', '--', title, withoutMarkup(text)] };
  }
  if (platform === 'darwin') {
    const script = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];
    return { program: 'osascript', args: [...script.flatMap((line) => ['-e', line]), title, text] };
  }
  if (platform !== 'win32') return null;
  return {
    program: 'powershell.exe',
    args: ['-NoProfile', '-NonInteractive', '-EncodedCommand', Buffer.from(TOAST, 'utf16le').toString('base64')],
    environment: { BATON_TITLE: title, BATON_TEXT: text },
  };
}

let hasFailed = false;

/** Shows which files have come. If it cannot show them, it says so once, and receiving goes on. */
export function notifyOfFiles(output: Output, from: string, paths: readonly string[]): void {
  const title = `Files from ${deviceNameOf(from)}`;
  const notifier = notifierOf(process.platform, title, namesOf(paths.map((path) => basename(path))));
  const failed = (why: string) => {
    if (!hasFailed) output.note(`Notifications cannot be shown: ${why}`);
    hasFailed = true;
  };
  if (notifier === null) return failed('this platform has none that Baton knows.');
  const { program, args, environment = {} } = notifier;
  const env = environmentWith(environment);
  execFile(program, [...args], { env, timeout: 10_000, windowsHide: true }, (error) => {
    if (error !== null) failed(oneLine(error.message));
  });
}
