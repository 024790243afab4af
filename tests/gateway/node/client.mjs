// Sends chat bodies through the official client, one after the other or all at once, and says what came back.
// Standard input: {"url", "key", "bodies", "concurrent"}. Standard output: an array, one object for each body.
import { readFileSync } from "node:fs";
import OpenAI from "openai";

const { url, key, bodies, concurrent } = JSON.parse(readFileSync(0, "utf8"));
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });

async function ask(body) {
  try {
    const told = await client.chat.completions.create(body);
    if (!body.stream) {
      return { answer: told.choices[0].message.content, status: told.cache_status ?? null, usage: told.usage, early: 0 };
    }
    const chunks = [];
    for await (const chunk of told) chunks.push(chunk);
    const last = chunks.at(-1);
    return {
      answer: chunks.flatMap((chunk) => chunk.choices).map((choice) => choice.delta.content ?? "").join(""),
      status: last.cache_status ?? null,
      usage: last.usage ?? null,
      early: chunks.slice(0, -1).filter((chunk) => "cache_status" in chunk).length,
    };
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    return { error: { status: error.status ?? null, code: error.code, param: error.param } };
  }
}

const told = [];
if (concurrent) told.push(...(await Promise.all(bodies.map(ask))));
else for (const body of bodies) told.push(await ask(body));
console.log(JSON.stringify(told));
