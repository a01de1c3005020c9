/** Runs tests one after the other, each titled by a sentence, and counts them. */
export function makeSuite() {
  const counts = { passed: 0, failed: 0 };
  const say = (text) => process.stdout.write(`${text}\n`);
  return {
    counts,
    say,
    async test(sentence, prove) {
      const startedAt = Date.now();
      const seconds = () => `(${((Date.now() - startedAt) / 1000).toFixed(1)} s)`;
      try {
        const figure = await prove();
        counts.passed += 1;
        say(`ok    ${sentence} ${seconds()}${figure ? `: ${figure}` : ''}`);
        return true;
      } catch (error) {
        counts.failed += 1;
        say(`FAIL  ${sentence} ${seconds()}\n${error.stack}`);
        return false;
      }
    },
  };
}
