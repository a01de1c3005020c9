import { connect, type Socket } from 'node:net';

export interface Frame {
  event: string;
  data: string;
  /** The `performance.now()` at which its last byte had come. */
  at: number;
}

interface StreamOptions {
  url: string;
  headers: Record<string, string>;
  /** The loopback address of the client. */
  from: string;
  /** Called for each frame. Without it, frames are not parsed. */
  onFrame?: (frame: Frame) => void;
  onClose?: () => void;
}

/** Opens a bare event stream. The real client does more than that, which would cost more than what is measured. */
export function openStream({ url, headers, from, onFrame, onClose }: StreamOptions): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from });
  const all = { Host: `${hostname}:${port}`, Accept: 'text/event-stream', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /api/hub/events HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.on('error', () => undefined);
  if (onClose) socket.on('close', onClose);
  if (onFrame === undefined) {
    socket.resume();
    return socket;
  }
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    const at = performance.now();
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = text.slice(0, end);
      text = text.slice(end + 2);
      const event = /^event: ?(\S+)$/m.exec(frame)?.[1];
      if (event !== undefined) onFrame({ event, data: /^data: ?(.*)$/m.exec(frame)?.[1] ?? '', at });
    }
  });
  return socket;
}
