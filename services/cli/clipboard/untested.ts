import { type Copied, giveTo, NOTHING, outputOf, SECRET, type SystemClipboard } from './programs.ts';

/* The clipboards of macOS and Windows, written from their documentation. We have not run them. */

/** Returns what a script has printed as JSON: `secret`, or the text in base64. */
function copiedIn(output: Buffer | null): Copied {
  try {
    const { secret, text } = JSON.parse(output?.toString() ?? '') as { secret?: boolean; text?: string | null };
    if (secret === true) return SECRET;
    return typeof text === 'string' ? { text: Buffer.from(text, 'base64').toString(), isSecret: false } : NOTHING;
  } catch {
    return NOTHING;
  }
}

/** The types of nspasteboard.org by which a program asks that a text is not kept. */
const MACOS_READ = `ObjC.import('AppKit');
const board = $.NSPasteboard.generalPasteboard;
const types = ObjC.deepUnwrap(board.types) || [];
const marks = ['org.nspasteboard.ConcealedType', 'org.nspasteboard.TransientType', 'com.agilebits.onepassword'];
const found = board.stringForType($.NSPasteboardTypeString);
const bytes = found.isNil() ? null : found.dataUsingEncoding($.NSUTF8StringEncoding);
JSON.stringify({
  secret: marks.some((mark) => types.includes(mark)),
  text: bytes === null ? null : ObjC.unwrap(bytes.base64EncodedStringWithOptions(0)),
});`;

export const macos: SystemClipboard = {
  read: async () => copiedIn(await outputOf('osascript', ['-l', 'JavaScript', '-e', MACOS_READ])),
  write: (text) => giveTo('env', ['LC_CTYPE=UTF-8', 'pbcopy'], text),
};

/** The formats of "Clipboard Formats" of the Windows documentation by which a program keeps a text out of the history. */
const WINDOWS_READ = `Add-Type -AssemblyName System.Windows.Forms
$data = [System.Windows.Forms.Clipboard]::GetDataObject()
$formats = @($data.GetFormats($false))
$secret = $formats -contains 'ExcludeClipboardContentFromMonitorProcessing'
foreach ($name in 'CanIncludeInClipboardHistory', 'CanUploadToCloudClipboard') {
  if ($formats -contains $name) {
    $value = $data.GetData($name)
    if ($value -is [System.IO.Stream]) { $value = $value.ReadByte() }
    if (-not $value) { $secret = $true }
  }
}
$text = $null
if (-not $secret -and [System.Windows.Forms.Clipboard]::ContainsText()) {
  $text = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes([System.Windows.Forms.Clipboard]::GetText()))
}
ConvertTo-Json -Compress @{ secret = $secret; text = $text }`;

const WINDOWS_WRITE = `Add-Type -AssemblyName System.Windows.Forms
$reader = New-Object IO.StreamReader([Console]::OpenStandardInput(), [Text.Encoding]::UTF8)
[System.Windows.Forms.Clipboard]::SetText($reader.ReadToEnd())`;

const POWERSHELL = ['-NoProfile', '-NonInteractive', '-STA', '-Command'];

export const windows: SystemClipboard = {
  read: async () => copiedIn(await outputOf('powershell', [...POWERSHELL, WINDOWS_READ])),
  write: (text) => giveTo('powershell', [...POWERSHELL, WINDOWS_WRITE], text),
};
