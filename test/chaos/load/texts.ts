/** Texts carry the number of their operation, so that a receiver knows what it got without knowing the sender. */
export interface Mark {
  account: string;
  operation: number;
}

const TEXT = /^(\S+)#(\d+)( |$)/;
const NAME = /^(\S+) n(\d+)$/;

export const textOf = ({ account, operation }: Mark, filler: string): string => `${account}#${operation} ${filler}`;

export function markIn(text: string): Mark | null {
  const match = TEXT.exec(text);
  return match === null ? null : { account: match[1] as string, operation: Number(match[2]) };
}

/** A device name that no other operation gives. */
export const nameFor = (base: string, operation: number): string => `${base} n${operation}`;

export function operationInName(name: string): number | null {
  const match = NAME.exec(name);
  return match === null ? null : Number(match[2]);
}
