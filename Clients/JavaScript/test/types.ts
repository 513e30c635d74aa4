// Compiled by test/types.test.js, never run: what the declarations promise, and what they refuse.

import {Entity, Larder, MemoryStore, Operation, OfflineError, ProblemError, diff} from "../src/larder.js";
import {fileSource, fileStore} from "../src/node.js";

interface Film extends Entity {
  id: string;
  title: string;
  year: number;
}

export async function use(): Promise<void> {
  const larder = await Larder.open({url: "http://127.0.0.1:8080", store: fileStore("/tmp/x"), schema: {Film: {local: false}}});
  await larder.follow("films", {types: ["Film"], filter: "year > ?", args: [1990]});
  const films: Film[] = larder.list<Film>({type: "Film", filter: film => film.year > 1990, order: "-year", limit: 5});
  for await (const {items, diff: steps} of larder.observe<Film>({type: "Film"})) {
    const index: number | undefined = steps.inserts[0]?.index;
    console.log(items.length, index);
  }
  const {key}: {key: string} = await larder.submit("RateFilm", {id: "f1"}, {mode: "steady", optimistic: [{op: "merge", type: "Film", id: "f1"}]});
  const {data, from} = await larder.read<{film: Film}>("Film", {id: "f1"});
  console.log(data.film.title, from === "offline", key, films, diff([1], [2], String));
  try {
    await larder.files.upload("mine", "{user}/x", fileSource("/tmp/x"), {onProgress: done => console.log(done)});
  } catch (error) {
    if (error instanceof ProblemError) console.log(error.problem.code);
    if (error instanceof OfflineError) console.log(error.unsent);
  }
  const filmQuery: Operation<{id: string}, {film: Film | null}> = {name: "Film", kind: "query"};
  const year: number | undefined = (await larder.read(filmQuery, {id: "f1"})).data.film?.year;
  for await (const {data} of larder.live({operation: filmQuery, variables: {id: "f1"}})) console.log(data.data.film?.title, year);
  // @ts-expect-error the variables of a generated operation have types
  await larder.read(filmQuery, {id: 1});
  // @ts-expect-error force is a method, not a mode of submit
  await larder.submit("RateFilm", {}, {mode: "force"});
  larder.reader.list<Film>({type: "Film"});
  // @ts-expect-error a reader cannot write
  await larder.reader.submit("RateFilm");
  // @ts-expect-error a query needs a type
  larder.list({order: "title"});
  // @ts-expect-error operations of writes have fixed names
  await larder.write([{op: "upsert", type: "Trip"}]);
  // @ts-expect-error the constructor is private
  new Larder({url: "x", store: new MemoryStore()});
}
