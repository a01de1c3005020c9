import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Does the same as `client.mjs` with one curl for each file: from a sparse file, which costs no disk, and to nowhere.
 * The cost of its processes is not in any figure, but they share the processors with the rest.
 */

const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});

/** Returns a request's head as arguments. The length comes from the file. */
function argumentsOf({ side, port, head, size }) {
  const [first, ...headers] = head
    .split('\r\n')
    .filter((line) => line !== '' && !/^(content-length|host):/i.test(line));
  const [method, path] = first.split(' ');
  const file = join(folder, String(size));
  if (side === 'up') {
    writeFileSync(file, '', { flag: 'a' });
    truncateSync(file, size);
  }
  return [
    ...['--silent', '--show-error', '--fail', '--http1.1', '--request', method, '--output', '/dev/null'],
    ...(side === 'up' ? ['--upload-file', file, '--header', 'Expect:'] : []),
    ...headers.flatMap((header) => ['--header', header]),
    ...['--write-out', '%{size_upload} %{size_download}', `http://127.0.0.1:${port}${path}`],
  ];
}

const transfer = (request) =>
  new Promise((resolve, reject) => {
    const curl = spawn('curl', argumentsOf(request), { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const output of [curl.stdout, curl.stderr]) {
      output.setEncoding('utf8').on('data', (text) => {
        said += text;
      });
    }
    curl.on('close', (code) => {
      const moved = Number(said.split(' ')[request.side === 'up' ? 0 : 1]);
      if (code === 0 && moved === request.size) resolve();
      else reject(new Error(`curl ended with ${code}: ${said}`));
    });
  });

process.on('message', async ({ side, requests }) => {
  try {
    await Promise.all(requests.map((request) => transfer({ side, ...request })));
    process.send({ done: true });
  } catch (error) {
    process.send({ failed: String(error) });
  }
});
