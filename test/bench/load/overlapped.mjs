/** Runs `act(i)` for 0 to count - 1, at most `width` of them at once. */
export async function overlapped(count, width, act) {
  let next = 0;
  const worker = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
