import type { ServiceTask } from './task.ts';
import { textIn, xmlOf } from './xml.ts';

/** The label of the agent, by which launchd knows it. */
export const LABEL = 'org.baton.receive';

/**
 * Writes an agent of launchd. It starts at login, and again half a minute after it has failed (launchd.plist(5)). `log`:
 * the file for its output.
 */
export function plistOf({ command, environment, umask }: ServiceTask, log: string): string {
  const words = command.map((word) => `    <string>${xmlOf(word)}</string>\n`).join('');
  const variables = Object.entries(environment)
    .map(([name, value]) => `    <key>${xmlOf(name)}</key>\n    <string>${xmlOf(value)}</string>\n`)
    .join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>Umask</key>
  <integer>${umask}</integer>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>StandardErrorPath</key>
  <string>${xmlOf(log)}</string>
</dict>
</plist>
`;
}

/** Returns the words of the command in an agent that `plistOf` has written. */
export function commandIn(plist: string): string[] {
  const words = /<key>ProgramArguments<\/key>\s*<array>(.*?)<\/array>/s.exec(plist)?.[1] ?? '';
  return [...words.matchAll(/<string>(.*?)<\/string>/gs)].map(([, word = '']) => textIn(word));
}
