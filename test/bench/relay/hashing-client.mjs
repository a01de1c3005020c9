import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';

/*
 * Does the same as `client.mjs` in the usual way: with the platform's requests and streams, and with a digest of what
 * is sent and of what is received, which must be equal in a real transfer. Both ends compete with the servers for the
 * processors.
 */

const BYTES = randomBytes(64 * 1024);

function optionsOf({ port, head }) {
  const [first, ...lines] = head.split('\r\n').filter((line) => line !== '');
  const [method, path] = first.split(' ');
  const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2)));
  return { host: '127.0.0.1', port, method, path, headers, agent: false };
}

const send = (file) =>
  new Promise((resolve, reject) => {
    const sent = request(optionsOf(file), ({ statusCode }) =>
      statusCode === 204 ? resolve() : reject(new Error(`answered ${statusCode}`)),
    );
    const digest = createHash('sha256');
    function* parts() {
      for (let left = file.size; left > 0; left -= BYTES.length) {
        const part = left < BYTES.length ? BYTES.subarray(0, left) : BYTES;
        digest.update(part);
        yield part;
      }
    }
    Readable.from(parts(), { objectMode: false }).pipe(sent.on('error', reject));
  });

const receive = (file) =>
  new Promise((resolve, reject) => {
    const take = async (answer) => {
      const digest = createHash('sha256');
      let left = file.size;
      for await (const part of answer) {
        left -= part.length;
        digest.update(part);
      }
      if (answer.statusCode !== 200 || left !== 0) throw new Error(`answered ${answer.statusCode}, ${left} bytes left`);
    };
    request(optionsOf(file), (answer) => take(answer).then(resolve, reject))
      .on('error', reject)
      .end();
  });

process.on('message', async ({ side, requests }) => {
  try {
    await Promise.all(requests.map(side === 'up' ? send : receive));
    process.send({ done: true });
  } catch (error) {
    process.send({ failed: String(error) });
  }
});
