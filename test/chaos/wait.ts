/** What passes between a fault and its end, or until the next look: a run makes its times itself. */
export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
