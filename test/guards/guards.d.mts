export const GUARDS: { name: string; file: string; from: string; to: string; test: [string, string] }[];
