import LosslessJSON
import Model

/// A page of a collection as documents, with what goes beside them.
struct EntityList: Sendable {
  let documents: [EntityDocument]
  /// The token of the page behind this one; nil at the end.
  let next: String?
  /// Of the whole list; nil where it was not counted.
  let total: Int?
  /// Whether the body has the total; a count for `HEAD` alone is not in it.
  let showsTotal: Bool
  let sections: [EntityPage.Section]?
  /// Of the oldest of upstream's entities in it; nil where there is none.
  let age: Duration?

  init(
    documents: [EntityDocument], next: String? = nil, total: Int? = nil, showsTotal: Bool = false,
    sections: [EntityPage.Section]? = nil, age: Duration? = nil
  ) {
    self.documents = documents
    self.next = next
    self.total = total
    self.showsTotal = showsTotal
    self.sections = sections
    self.age = age
  }

  /// As clients read it.
  var body: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for document in documents { writer.raw(document.body) }
    writer.endArray()
    writeRest(to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// The members beside the items: `next`, `total`, `sections`.
  func writeRest(to writer: inout JSONWriter) {
    if let next {
      writer.name("next")
      writer.string(next)
    }
    if showsTotal, let total {
      writer.name("total")
      writer.int(total)
    }
    guard let sections else { return }
    writer.name("sections")
    writer.beginArray()
    for section in sections { Self.write(section, to: &writer) }
    writer.endArray()
  }

  private static func write(_ section: EntityPage.Section, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("name")
    if let name = section.name { writer.string(name) } else { writer.null() }
    writer.name("offset")
    writer.int(section.offset)
    writer.name("count")
    writer.int(section.count)
    writer.endObject()
  }
}
