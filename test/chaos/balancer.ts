/** Where requests go, as devices see it. */
export interface Balancer {
  /** In a quiet moment the balancer knows which replicas are there. */
  isCalm: boolean;
  /** Returns the target of the next request. */
  choose(): { process: { readonly url: string } };
  /** Returns the name of the replica at an address. */
  nameOf(url: string): string;
}
