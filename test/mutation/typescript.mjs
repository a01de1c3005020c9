import { parseAst } from 'rolldown/parseAst';

/*
 * Makes mutants of TypeScript: boundaries and comparisons, `&&`, `||` and `??`, conditions, booleans, numbers, arithmetic,
 * codes of errors, removed statements, throws and returned values. Types have no mutants, because they do not exist at run
 * time.
 */
const SWAPS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<<': '>>',
  '>>>': '<<',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};
const isText = (node) => node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
const HAS_OPERATOR = new Set(['BinaryExpression', 'LogicalExpression', 'UnaryExpression', 'Literal']);

const whole = ({ start, end }, to) => ({ start, end, to });

/** Finds the operator between its operands. Only spaces and brackets surround it. */
function operatorOf(text, { left, right, operator }) {
  const to = SWAPS[operator];
  if (to === undefined || (operator === '+' && (isText(left) || isText(right)))) return [];
  const start = text.indexOf(operator, left.end);
  return [{ start, end: start + operator.length, to }];
}

function literalOf(node) {
  if (typeof node.value === 'boolean') return [whole(node, String(!node.value))];
  // A test may allow a large number, such as a time, to be a little different.
  if (typeof node.value === 'number') return [whole(node, String(node.value < 100 ? node.value + 1 : node.value * 2))];
  return [];
}

const negated = (text, test) =>
  HAS_OPERATOR.has(test.type) ? [] : [whole(test, `!(${text.slice(test.start, test.end)})`)];

const MUTATORS = {
  BinaryExpression: (node, text) => operatorOf(text, node),
  LogicalExpression: (node, text) => operatorOf(text, node),
  UnaryExpression: (node, text) =>
    node.operator === '!' ? [whole(node, text.slice(node.argument.start, node.argument.end))] : [],
  Literal: literalOf,
  IfStatement: (node, text) => negated(text, node.test),
  WhileStatement: (node, text) => negated(text, node.test),
  ConditionalExpression: (node, text) => negated(text, node.test),
  ExpressionStatement: (node) => (node.directive === undefined ? [whole(node, ';')] : []),
  ThrowStatement: (node) => [whole(node, ';')],
  // A missing result of a maker, which has many lines, is noticed at once.
  ReturnStatement: ({ argument }, text) => {
    const said = argument === null ? 'undefined' : text.slice(argument.start, argument.end);
    return said === 'undefined' || argument.type === 'Literal' || said.includes('\n')
      ? []
      : [whole(argument, 'undefined')];
  },
  // Only codes are changed, not sentences.
  NewExpression: ({ callee, arguments: [code] }) =>
    callee.name?.endsWith('Error') && /^[a-z_]+$/.test(code?.value) ? [whole(code, "''")] : [],
};

/**
 * Returns every mutant of a module, as `{start, end, to, probe}`. The probe throws where the statement of the mutant
 * begins: if it survives too, no test reaches the statement.
 */
export function mutantsOfTypeScript(text) {
  const found = [];
  const visit = (node, statement) => {
    // `as`, `satisfies` and the like contain a value and a type.
    if (/^TS(?!As|Satisfies|NonNull)/.test(node.type)) return;
    const probe = { start: statement, end: statement, to: "throw new Error('reached');" };
    for (const mutant of MUTATORS[node.type]?.(node, text) ?? []) found.push({ ...mutant, probe });
    for (const [name, child] of Object.entries(node)) {
      if (name === 'typeAnnotation' || name === 'returnType') continue;
      for (const each of Array.isArray(child) ? child : [child]) {
        if (typeof each?.type === 'string') visit(each, node.type === 'BlockStatement' ? each.start : statement);
      }
    }
  };
  visit(parseAst(text, { lang: 'ts' }), 0);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}
