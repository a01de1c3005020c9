import type { IncomingMessage, ServerResponse } from 'node:http';

/** A step that a request takes. It asks for nothing that Express adds, so that a port may do without. */
export type Middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: Error) => void) => void;
