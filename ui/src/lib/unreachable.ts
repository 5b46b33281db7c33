/** The end of every `switch`: the type checker sees to it that nothing gets here. */
export function unreachable(value: never): never {
  throw new Error(`not expected: ${JSON.stringify(value)}`);
}
