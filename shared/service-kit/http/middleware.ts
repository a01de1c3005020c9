import type { IncomingMessage, ServerResponse } from 'node:http';

/** A step in the handling of a request. It uses nothing that Express adds, so that a port may work without Express. */
export type Middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: Error) => void) => void;
