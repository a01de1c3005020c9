import type { RequestListener } from 'node:http';

/** The use of the public port: whether a request is under way, and when a client last came or left. */
export class Arrivals {
  #lastMs = Number.NEGATIVE_INFINITY;
  #underWay = 0;

  /** Notes a new connection, by a client or by a balancer that probes the port. */
  connected(): void {
    this.#lastMs = performance.now();
  }

  /** Returns the app, with its requests counted. */
  count(app: RequestListener): RequestListener {
    const left = (): void => {
      this.#lastMs = performance.now();
      this.#underWay -= 1;
    };
    return (req, res) => {
      this.#lastMs = performance.now();
      this.#underWay += 1;
      res.on('close', left);
      app(req, res);
    };
  }

  /** Returns whether nothing is under way, and no connection came or left for `forMs`. */
  isQuiet(forMs: number): boolean {
    return this.#underWay === 0 && performance.now() - this.#lastMs >= forMs;
  }
}
