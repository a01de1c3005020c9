/** Where requests go, as devices see it. */
export interface Balancer {
  /** In a quiet moment it knows who is there. */
  isCalm: boolean;
  /** Where the next request goes. */
  choose(): { process: { readonly url: string } };
  /** Returns the name of the replica at an address. */
  nameOf(url: string): string;
}
