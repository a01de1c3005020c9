import { connect } from 'node:net';

/*
 * A sender or a receiver that costs as little as possible in Node: it sends the same bytes again and again, or only
 * counts bytes. It is told `{side, requests: [{port, head, size}]}` and answers `{seconds}`.
 */

const BYTES = Buffer.alloc(256 * 1024, 'baton');

const send = ({ port, head, size }) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    let left = size;
    const more = () => {
      while (left > 0) {
        const part = left < BYTES.length ? BYTES.subarray(0, left) : BYTES;
        left -= part.length;
        if (!socket.write(part)) return;
      }
      socket.off('drain', more);
    };
    socket.on('drain', more).on('error', reject);
    socket.setEncoding('latin1').on('data', (text) => {
      answer += text;
      if (!answer.includes('\r\n\r\n')) return;
      socket.destroy();
      if (answer.startsWith('HTTP/1.1 204')) resolve();
      else reject(new Error(answer));
    });
    socket.write(head);
    more();
  });

const receive = ({ port, head, size }) =>
  new Promise((resolve, reject) => {
    let start = '';
    let left = null;
    const take = (bytes, buffer) => {
      if (left === null) {
        start += buffer.toString('latin1', 0, bytes);
        const end = start.indexOf('\r\n\r\n');
        if (end < 0) return true;
        if (!start.startsWith('HTTP/1.1 200')) reject(new Error(start));
        left = size - (start.length - end - 4);
      } else left -= bytes;
      if (left > 0) return true;
      socket.destroy();
      resolve();
      return false;
    };
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer: Buffer.alloc(256 * 1024), callback: take } });
    socket.on('error', reject).on('close', () => left !== 0 && reject(new Error(`${left} bytes are missing`)));
    socket.write(head);
  });

process.on('message', async ({ side, requests }) => {
  try {
    await Promise.all(requests.map(side === 'up' ? send : receive));
    process.send({ done: true });
  } catch (error) {
    process.send({ failed: String(error) });
  }
});
