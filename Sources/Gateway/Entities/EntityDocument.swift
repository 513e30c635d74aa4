import Filtering
import LosslessJSON
package import Model

/// An entity as JSON for one viewer: the body of an entity read, an element of a collection, or the
/// `data` of a change.
package struct EntityDocument: Sendable {
  package let key: EntityKey
  /// One JSON object, compact.
  package let body: [UInt8]
  /// The value of `_rev`: a digest of what is shown. The same content, as this viewer sees it, has the
  /// same revision, on every node and after every restart; what a view does not show has no part in it.
  /// If entities are nested in this one, it has two parts: that of its own fields, with ids in place of
  /// nested entities, and that of what is nested (``EntityDigest/join(_:_:)``).
  package let revision: String
  /// The fields that a view or `include` selects and that are not stored; nil if everything is, or
  /// without both.
  package let missing: [String]?

  /// The opaque part of the entity tag of a read that has this body. Its first part is that of
  /// ``revision``, if that has two.
  package var tag: String {
    let tag = EntityDigest.tag(of: body)
    let own = EntityDigest.own(revision)
    return own.utf8.count == revision.utf8.count ? tag : EntityDigest.join(own, tag)
  }
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
    writer.reserve(documents.reduce(256) { $0 + $1.body.count + 1 })
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for document in documents { document.body.withUnsafeBufferPointer { writer.raw($0) } }
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
