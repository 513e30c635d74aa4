import LosslessJSON
import Model

/// Writes list diffs, and whole lists if there is no diff, as JSON.
struct ListDiffWriter {
  let documents: [EntityDocument]
  let vector: ListVector
  /// With its quotes.
  let tag: String
  let cursor: String
  /// Writes the members next to the list, such as its total.
  var writeRest: (inout JSONWriter) -> Void = { _ in }

  /// A number of bytes that the whole list has at least: those of its entities.
  var fullBytesMin: Int { documents.reduce(0) { $0 + $1.body.count } }

  /// Returns the whole list.
  func full() -> [UInt8] {
    var writer = JSONWriter()
    writer.reserve(fullBytesMin + documents.count + 256)
    writer.beginObject()
    write("kind", "full", to: &writer)
    write("etag", tag, to: &writer)
    writer.name("count")
    writer.int(documents.count)
    writer.name("items")
    writer.beginArray()
    for document in documents { document.body.withUnsafeBufferPointer { writer.raw($0) } }
    writer.endArray()
    writeRest(&writer)
    write("cursor", cursor, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Returns a diff.
  ///
  /// - Parameter base: the old list's tag; nil if the client sent the list itself.
  func diff(_ diff: ListDiff, from old: ListVector, base: String?) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write("kind", "diff", to: &writer)
    if let base { write("from", base, to: &writer) }
    write("etag", tag, to: &writer)
    writer.name("oldCount")
    writer.int(old.rows.count)
    writer.name("count")
    writer.int(vector.rows.count)
    writer.name("deletes")
    writer.beginArray()
    for place in diff.deletes { writer.int(place) }
    writer.endArray()
    list("inserts", diff.inserts, to: &writer) {
      [("index", $0)]
    } id: {
      $0
    }
    list("moves", diff.moves, to: &writer) {
      [("from", $0.from), ("to", $0.to)]
    } id: {
      $0.to
    }
    list("updates", diff.updates, to: &writer) {
      [("old", $0.old), ("new", $0.new)]
    } id: {
      $0.new
    }
    writeEntities(diff.inserts + diff.updates.map(\.new), to: &writer)
    writeRest(&writer)
    write("cursor", cursor, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  private func list<Element>(
    _ name: String, _ elements: [Element], to writer: inout JSONWriter,
    numbers: (Element) -> [(String, Int)], id place: (Element) -> Int
  ) {
    writer.name(name)
    writer.beginArray()
    for element in elements {
      writer.beginObject()
      for (name, number) in numbers(element) {
        writer.name(name)
        writer.int(number)
      }
      write("id", vector.rows[place(element)].id, to: &writer)
      writer.endObject()
    }
    writer.endArray()
  }

  /// Writes the entities that the client lacks or has in another revision, each once.
  private func writeEntities(_ places: [Int], to writer: inout JSONWriter) {
    var written: Set<ExactText> = []
    writer.name("entities")
    writer.beginObject()
    for place in places where written.insert(ExactText(vector.rows[place].id)).inserted {
      writer.name(vector.rows[place].id)
      documents[place].body.withUnsafeBufferPointer { writer.raw($0) }
    }
    writer.endObject()
  }

  private func write(_ name: String, _ value: String, to writer: inout JSONWriter) {
    writer.name(name)
    writer.string(value)
  }
}
