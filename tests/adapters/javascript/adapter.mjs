// The adapter: requests of cctest as lines on standard input, one answer for each on standard output.

import { OPERATIONS } from "./operations.mjs";

const LINE_FEED = 0x0a;

function answer(line) {
  const { id, op, input } = JSON.parse(line);
  const operation = OPERATIONS.get(op);
  if (operation === undefined) return { id, unsupported: "there is no such operation" };
  try {
    return { id, result: operation(input) };
  } catch (error) {
    return { id, error: String(error) };
  }
}

async function* linesOf(stream) {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
      yield rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
    }
  }
}

for await (const line of linesOf(process.stdin)) process.stdout.write(`${JSON.stringify(answer(line))}\n`);
