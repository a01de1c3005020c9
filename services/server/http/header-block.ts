import type { ServerResponse } from 'node:http';

const lineOf = ([name, value]: readonly [string, string]): string => `${name}: ${value}\r\n`;

/** Headers that many answers carry, as they stand in a head. */
export class HeaderBlock {
  readonly #lines: ReadonlyMap<string, string>;
  readonly #all: string;
  /** What is left of them, by the names that are taken: a few, of which streams have one each time. */
  readonly #rest = new Map<string, string>();

  constructor(headers: readonly (readonly [name: string, value: string])[]) {
    this.#lines = new Map(headers.map((header) => [header[0].toLowerCase(), lineOf(header)]));
    this.#all = [...this.#lines.values()].join('');
  }

  /** Their lines, without those of these (lower-case) names. */
  linesWithout(names: readonly string[]): string {
    const taken = names.filter((name) => this.#lines.has(name));
    return taken.length === 0 ? this.#all : this.#linesBut(taken);
  }

  #linesBut(taken: readonly string[]): string {
    const key = taken.join();
    const known = this.#rest.get(key);
    if (known !== undefined) return known;
    const left = [...this.#lines].filter(([name]) => !taken.includes(name));
    const lines = left.map(([, line]) => line).join('');
    this.#rest.set(key, lines);
    return lines;
  }
}

/** The lines of a head that every answer of a port has, beside the headers of its own with these (lower-case) names. */
export type CommonHeaders = (res: ServerResponse, own: readonly string[]) => string;
