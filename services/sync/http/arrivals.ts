import type { RequestListener, ServerResponse } from 'node:http';

/** Who uses the public port: whether a request is under way, and when somebody came or left last. */
export class Arrivals {
  #lastMs = Number.NEGATIVE_INFINITY;
  #underWay = 0;

  /** A connection was made: by a client, or by a balancer that looks whether somebody listens. */
  connected(): void {
    this.#lastMs = performance.now();
  }

  /** The application, with its requests counted. */
  count(app: RequestListener): RequestListener {
    const left = (): void => {
      this.#lastMs = performance.now();
      this.#underWay -= 1;
    };
    /** A stream has taken the connection of its answer, and is under way until that closes. */
    const answered = function (this: ServerResponse): void {
      const { socket } = this.req;
      if (this.writableFinished || socket.destroyed) left();
      else socket.once('close', left);
    };
    return (req, res) => {
      this.#lastMs = performance.now();
      this.#underWay += 1;
      res.on('close', answered);
      app(req, res);
    };
  }

  /** Nothing is under way, and for so long nobody came. */
  isQuiet(forMs: number): boolean {
    return this.#underWay === 0 && performance.now() - this.#lastMs >= forMs;
  }
}
