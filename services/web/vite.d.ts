/** The address of a worker's file, as the bundler made it. */
declare module '*?worker&url' {
  export const address: string;
  export { address as default };
}
