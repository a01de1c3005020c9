/** The pause between a fault and its end, or before the next look. A run sets its times itself. */
export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
