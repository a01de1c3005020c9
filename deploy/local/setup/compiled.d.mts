export function argumentsToStart(service: 'sync' | 'broker'): string[];
