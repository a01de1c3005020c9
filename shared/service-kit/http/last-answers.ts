import type { RequestListener, ServerResponse } from 'node:http';

/** Tells the client to send nothing more over this connection (RFC 9112, section 9.6). */
const endConnection = (res: ServerResponse): void => void res.setHeader('Connection', 'close');

/**
 * Makes a listener that ends the connection of each response, once `begin` is called. A server that closes a kept connection
 * by itself may do so while the next request is on its way, and that request is lost. A client that is told before opens
 * another connection, which a balancer routes elsewhere.
 */
export function makeLastAnswers(app: RequestListener) {
  /** Responses that may not have begun. */
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
    /** The app, with its responses watched. */
    listener,
    /** Ends the connection of each response from now on, also of requests that are under way. */
    begin(): void {
      isBegun = true;
      for (const res of underWay) if (!res.headersSent) endConnection(res);
      underWay.clear();
    },
  };
}
