import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** The longest pause of a client between two requests. Its connection is idle then. */
const THINKS_MS = 30;

interface LoadParts {
  clients: number;
  /** Returns the port that a client connects to when it needs a connection. */
  port: () => number;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: () => object;
}

export interface SteadyLoad {
  /** Number of responses by status. A refusal is listed with its text, so that a failing test shows the reason. */
  readonly answers: ReadonlyMap<number | string, number>;
  /** Requests without a response. */
  readonly failures: readonly string[];
  readonly connections: () => number;
  /** Lets the requests in progress end. */
  stop(): Promise<void>;
}

/** Starts clients that each keep one connection and send one POST after the other over it. None sends anything twice. */
export function startLoad({ clients, port, path, headers, body }: LoadParts): SteadyLoad {
  const answers = new Map<number | string, number>();
  const failures: string[] = [];
  let [connections, isOver] = [0, false];

  /** Asks for the port of each new connection, as a client of a balanced name does. */
  class BalancedAgent extends Agent {
    override createConnection(): Socket {
      connections += 1;
      return connect({ port: port(), host: '127.0.0.1', noDelay: true });
    }
  }

  const send = (agent: Agent): Promise<number | string> =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify(body()));
      const all = { ...headers, 'Content-Type': 'application/json', 'Content-Length': bytes.length };
      const asking = request({ agent, host: '127.0.0.1', method: 'POST', path, headers: all });
      asking.on('error', reject).on('response', (answer: IncomingMessage) => {
        const { statusCode = 0 } = answer;
        const said: Buffer[] = [];
        answer
          .on('error', reject)
          .on('data', (part: Buffer) => said.push(part))
          .on('end', () => resolve(statusCode < 400 ? statusCode : `${statusCode} ${Buffer.concat(said).toString()}`));
      });
      asking.end(bytes);
    });

  async function work(): Promise<void> {
    const agent = new BalancedAgent({ keepAlive: true, maxSockets: 1 });
    while (!isOver) {
      await send(agent).then(
        (status) => answers.set(status, (answers.get(status) ?? 0) + 1),
        (error: unknown) => failures.push(String((error as NodeJS.ErrnoException).code ?? error)),
      );
      await new Promise((resolve) => setTimeout(resolve, Math.random() * THINKS_MS));
    }
    agent.destroy();
  }

  const working = Promise.all(Array.from({ length: clients }, work));
  return {
    answers,
    failures,
    connections: () => connections,
    async stop() {
      isOver = true;
      await working;
    },
  };
}
