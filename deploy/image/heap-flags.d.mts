export function lackingFlags(limit: number | null, given: readonly string[]): string[];
