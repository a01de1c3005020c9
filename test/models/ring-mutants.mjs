/*
 * The faults for the models of rings and of the devices that have them, in the form of mutants.mjs.
 */
export const RING_MODELS = {
  keyring: [
    {
      title: 'only the number is compared',
      breaks: 'OneChain',
      changes: [
        [
          'Follows(ring) == InForce.n = ring.n - 1 /\\ InForce.id = ring.before',
          'Follows(ring) == InForce.n = ring.n - 1',
        ],
      ],
    },
    {
      title: 'nothing is compared: the last one wins',
      breaks: 'AnsweredIsKept',
      changes: [
        ['IF IsAgain(ring) \\/ Follows(ring)\n', 'IF TRUE\n'],
        [
          'ELSE Append(rings, ring)\n          /\\ \\/',
          'ELSE Append(SubSeq(rings, 1, IF ring.n > Len(rings) THEN Len(rings) ELSE ring.n - 1), ring)\n          /\\ \\/',
        ],
      ],
    },
    {
      title: 'a ring with the number in force counts as the same one again',
      breaks: 'OneSucceeds',
      changes: [
        ['IsAgain(ring) == InForce.n = ring.n /\\ InForce.id = ring.id', 'IsAgain(ring) == InForce.n = ring.n'],
      ],
    },
  ],
  members: [
    {
      title: 'another ring of a known number is taken: a fork',
      breaks: 'NothingForRemoved',
      changes: [
        [
          '  /\\ Len(next) = Len(ring) + 1\n  /\\ IsIn(ring, next)\n  /\\ Last(next).by \\in Members(ring)\n',
          '  /\\ \\/ Len(ring) > 1 /\\ Len(next) = Len(ring) /\\ IsIn(SubSeq(ring, 1, Len(ring) - 1), next)\n     \\/ Len(next) = Len(ring) + 1 /\\ IsIn(ring, next) /\\ Last(next).by \\in Members(ring)\n',
        ],
      ],
    },
    {
      title: 'the pin is not kept: a ring before it is taken',
      breaks: 'NothingForRemoved',
      changes: [
        [
          '  /\\ Len(next) = Len(ring) + 1\n  /\\ IsIn(ring, next)\n  /\\ Last(next).by \\in Members(ring)\n',
          '  /\\ \\/ IsIn(next, ring)\n     \\/ Len(next) = Len(ring) + 1 /\\ IsIn(ring, next) /\\ Last(next).by \\in Members(ring)\n',
        ],
      ],
    },
    {
      title: 'a member of any earlier ring may sign',
      breaks: 'NothingForRemoved',
      changes: [['  /\\ Last(next).by \\in Members(ring)\n', '  /\\ Was(Last(next).by, ring)\n']],
    },
    {
      title: 'a member that leaves may sign the ring without it',
      breaks: 'NothingForRemoved',
      changes: [['  /\\ Last(next).by \\in Members(next)\n', '']],
    },
    {
      title: 'the account key stays when a member leaves',
      breaks: 'NothingForRemoved',
      changes: [
        ['IsRotated(before, ring) == Members(before) \\ Members(ring) # {}', 'IsRotated(before, ring) == FALSE'],
      ],
    },
    {
      title: 'a lost race is repeated with the members of the earlier ring',
      breaks: 'NothingForRemoved',
      changes: [
        [
          '  \\E ring \\in kept \\union Forged \\union Shown :\n',
          '  \\E ring \\in kept \\union Forged \\union Shown \\union {Append(pin[d], Last(late)) : late \\in kept} :\n',
        ],
      ],
    },
    {
      title: 'a ring that another member names does not stop sealing',
      breaks: 'OneChainOrStopped',
      changes: [['"own" \\in Members(ring) /\\ Open(said, ring) = {}', '"own" \\in Members(ring)']],
    },
    {
      title: 'what a member named is forgotten when it is taken out',
      breaks: 'OneChainOrStopped',
      changes: [["named' = {c \\in named : ~IsIn(c.ring, ring)}", "named' = Open(named, ring)"]],
    },
    {
      title: 'the word of a device counts also while it is out',
      breaks: 'LiarsAreRemoved',
      changes: [
        ['{c \\in said : c.by \\in Members(ring) /\\ ~IsIn(c.ring, ring)}', '{c \\in said : ~IsIn(c.ring, ring)}'],
      ],
    },
    {
      title: 'the news of a removal does not stop sealing',
      breaks: 'NothingForRemoved',
      changes: [['removed = "no" \\/ Thief \\notin Members(ring)', 'TRUE']],
    },
    {
      title: 'the news of a device that is not known yet is forgotten',
      breaks: 'NothingForRemoved',
      changes: [
        [
          'IF Thief \\in Members(pin["own"]) THEN "member" ELSE "other"',
          'IF Thief \\in Members(pin["own"]) THEN "member" ELSE "no"',
        ],
      ],
    },
  ],
  linking: [
    {
      title: 'keys are not compared with the code',
      breaks: 'OnlyShownKeys',
      changes: [['FitsCode(d, keys) == keys = d', 'FitsCode(d, keys) == TRUE']],
    },
    {
      title: 'the digits of an invite do not name the keys',
      breaks: 'OnlyShownKeys',
      changes: [
        [
          'FitsDigits(d, keys, request) == keys = d /\\ request = RequestOf(d)',
          'FitsDigits(d, keys, request) == request = RequestOf(d)',
        ],
      ],
    },
    {
      title: 'a lost race counts as won',
      breaks: 'DoneIsIn',
      changes: [
        ['THEN To(d, "reads") /\\ UNCHANGED <<ring, faults>>', 'THEN To(d, "seals") /\\ UNCHANGED <<ring, faults>>'],
      ],
    },
    {
      title: 'a lost race ends the program without a word',
      breaks: 'AllEnd',
      changes: [
        ['THEN To(d, "reads") /\\ UNCHANGED <<ring, faults>>', 'THEN To(d, "lost") /\\ UNCHANGED <<ring, faults>>'],
      ],
    },
    {
      title: 'a ring is put whatever is in force',
      breaks: 'DoneIsIn',
      changes: [['IF letting[d].base # Len(ring) THEN', 'IF letting[d].base > Len(ring) THEN']],
    },
    {
      title: 'a grant is not bound to its request',
      breaks: 'ForItsRequest',
      changes: [
        [' /\\ grant.secret = SecretOf(d) /\\ grant.request = RequestOf(d)\n', ' /\\ grant.secret = SecretOf(d)\n'],
      ],
    },
    {
      title: 'the rings are not compared with the grant',
      breaks: 'Believes',
      changes: [['Fits(grant, pin) == IF grant.n = 0 THEN pin = 0 ELSE pin >= grant.n', 'Fits(grant, pin) == TRUE']],
    },
    {
      title: 'the digits are shown, and nobody is asked',
      breaks: 'Believes',
      changes: [['  /\\ \\/ /\\ device[d].grant \\in shown\n', '  /\\ \\/ /\\ device[d].grant # NoGrant\n']],
    },
    {
      title: 'the next program takes the approval unasked',
      breaks: 'Believes',
      changes: [
        [
          'device[d].step = "asked" /\\ UNCHANGED <<device, letting>>',
          'device[d].step = "asked" /\\ UNCHANGED letting\n        /\\ device\' = [device EXCEPT ![d].step = "in", ![d].pin = device[d].grant.n]',
        ],
      ],
    },
  ],
};
