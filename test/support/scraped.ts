/** Returns what a replica reports to Prometheus: each series as written, with its value. */
export async function scrape({ adminUrl }: { adminUrl: string }): Promise<Map<string, number>> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const rows = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    rows.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
}

/** Returns the sum of one series (`baton_messages_total`, `baton_transfers_total{state="DONE"}`) over these replicas. */
export async function counted(replicas: readonly { adminUrl: string }[], series: string): Promise<number> {
  const scrapes = await Promise.all(replicas.map(scrape));
  return scrapes.reduce((sum, rows) => sum + (rows.get(series) ?? 0), 0);
}
