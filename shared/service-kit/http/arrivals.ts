import type { RequestListener } from 'node:http';

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
    return (req, res) => {
      this.#lastMs = performance.now();
      this.#underWay += 1;
      res.on('close', left);
      app(req, res);
    };
  }

  /** Nothing is under way, and for so long nobody came. */
  isQuiet(forMs: number): boolean {
    return this.#underWay === 0 && performance.now() - this.#lastMs >= forMs;
  }
}
