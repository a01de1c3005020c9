import type { ServerResponse } from 'node:http';

const lineOf = ([name, value]: readonly [string, string]): string => `${name}: ${value}\r\n`;

/** Headers that many answers carry, as they stand in a head. */
export class HeaderBlock {
  readonly #lines: ReadonlyMap<string, string>;
  readonly #all: string;

  constructor(headers: readonly (readonly [name: string, value: string])[]) {
    this.#lines = new Map(headers.map((header) => [header[0].toLowerCase(), lineOf(header)]));
    this.#all = [...this.#lines.values()].join('');
  }

  /** Their lines, without those of these (lower-case) names. */
  linesWithout(names: readonly string[]): string {
    for (const name of names) if (this.#lines.has(name)) return this.#someWithout(names);
    return this.#all;
  }

  #someWithout(names: readonly string[]): string {
    const left = [...this.#lines].filter(([name]) => !names.includes(name));
    return left.map(([, line]) => line).join('');
  }
}

/** The lines of a head that every answer of a port has, beside the headers of its own with these (lower-case) names. */
export type CommonHeaders = (res: ServerResponse, own: readonly string[]) => string;
