/** A promise that was not kept. */
export interface Violation {
  check:
    | 'loss'
    | 'order'
    | 'double'
    | 'leak'
    | 'reset'
    | 'presence'
    | 'false offline'
    | 'silent stream'
    | 'refused but delivered'
    | 'not open'
    | 'superseded'
    | 'fault'
    | 'late'
    | 'unasked'
    | 'step'
    | 'size';
  at: number;
  account: string;
  device: string | null;
  says: string;
}
