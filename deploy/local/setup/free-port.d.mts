export function pickPort(range: { first: number; count: number; offsets?: number[] }): Promise<number>;
