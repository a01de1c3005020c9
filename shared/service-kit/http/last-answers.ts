import type { RequestListener, ServerResponse } from 'node:http';

/** RFC 9112, section 9.6: whoever gets it sends nothing more over this connection. */
const endConnection = (res: ServerResponse): void => void res.setHeader('Connection', 'close');

/**
 * Makes each answer the last one of its connection, from a moment on. A server that closes a kept connection by itself may
 * do so while the next request is on its way, and that request is lost. A client that was told before opens another
 * connection, which a balancer leads elsewhere.
 */
export function makeLastAnswers(app: RequestListener) {
  /** Answers that may not have begun. */
  const underWay = new Set<ServerResponse>();
  let isBegun = false;
  const forget = function (this: ServerResponse): void {
    underWay.delete(this);
  };
  const listener: RequestListener = (req, res) => {
    if (isBegun) endConnection(res);
    else {
      underWay.add(res);
      res.once('close', forget);
    }
    app(req, res);
  };
  return {
    /** The application, with its answers watched. */
    listener,
    /** From now on, requests that are under way included. */
    begin(): void {
      isBegun = true;
      for (const res of underWay) if (!res.headersSent) endConnection(res);
      underWay.clear();
    },
  };
}
