import Filtering
import LosslessJSON
package import Model

/// An entity as JSON for one viewer: the body of an entity read, an element of a collection, or the
/// `data` of a change.
package struct EntityDocument: Sendable {
  package let key: EntityKey
  /// One flat JSON object, compact.
  package let body: [UInt8]
  /// The value of `_rev`: a digest of the whole entity. The same content, as this viewer sees it, has
  /// the same revision, through every view, on every node and after every restart.
  package let revision: String
  /// The fields that a view selects and that are not stored; nil without a view.
  package let missing: [String]?

  /// The opaque part of the entity tag of a read that has this body.
  package var tag: String { EntityDigest.tag(of: body) }
}

/// A page of a collection as documents, with its total, sections and age.
struct EntityList: Sendable {
  let documents: [EntityDocument]
  /// The token of the next page; nil at the end.
  let next: String?
  /// The length of the whole list; nil if it was not counted.
  let total: Int?
  /// Whether the body has the total; a count only for `HEAD` is not included.
  let showsTotal: Bool
  let sections: [EntityPage.Section]?
  /// The age of the oldest upstream entity in it; nil if there is none.
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

  /// The JSON that clients read.
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

  /// Writes the members next to `items`: `next`, `total`, `sections`.
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
