import LosslessJSON
import Model
import Storage
import Synchronization

/// Renders a page of changes as JSON for one viewer and filter.
struct ChangeRenderer {
  let entities: EntityRenderer
  let validator: CursorValidator
  let viewer: Viewer
  let filter: ChangeFilter
  /// The time of `now()` in the filter, before the page and after it; nil for a filter without it.
  var clock: (before: FilterClock, after: FilterClock)?
  /// Whether that time is the present one: a page that ended an earlier move of it is not the last.
  var isOfNow = true

  func render(_ page: ChangePage) throws(Failure) -> RenderedChanges {
    var elements: [RenderedChanges.Element] = []
    var lastRevision: Revision?
    for entry in page.entries {
      guard let json = try json(of: entry) else { continue }
      if let lastRevision, lastRevision != entry.revision {
        close(&elements, at: lastRevision, origin: page)
      }
      elements.append(RenderedChanges.Element(json: json, cursor: nil))
      lastRevision = entry.revision
    }
    // If the page ends inside a commit, that commit's last element is on a later page.
    if let lastRevision, page.next.place.isEmpty || lastRevision < page.next.revision {
      close(&elements, at: lastRevision, origin: page)
    }
    let next = ChangePlace(position: page.next, origin: page.origin, clock: clock?.after)
    return RenderedChanges(
      elements: elements, cursor: validator.text(at: next, viewer: viewer, filter: filter),
      next: next, isComplete: page.isComplete && isOfNow)
  }

  /// Sets the cursor of a commit's last element. After the last commit of a complete page it is the
  /// page's own cursor.
  private func close(
    _ elements: inout [RenderedChanges.Element], at revision: Revision, origin page: ChangePage
  ) {
    guard let last = elements.popLast() else { return }
    let isLogEnd = page.isComplete || page.step != nil
    let isEnd = isLogEnd && revision >= page.next.revision
    let place = ChangePlace(
      position: LogPosition(revision: revision),
      origin: isEnd ? page.origin : page.readingOrigin,
      clock: isEnd ? clock?.after : clock?.before)
    elements.append(
      RenderedChanges.Element(
        json: last.json, cursor: validator.text(at: place, viewer: viewer, filter: filter)))
  }

  // MARK: Elements

  /// Returns an element; nil if the filter excludes it, or no operation shows the entity any more.
  private func json(of entry: ChangePage.Entry) throws(Failure) -> [UInt8]? {
    switch entry.state {
    case .present(let record, let isNew) where entry.key.type == QueueTypes.outcome:
      return filter.operations.contains(isNew ? .insert : .update)
        ? outcome(entry.key, record, isNew: isNew) : nil
    case .present(let record, let isNew):
      guard filter.operations.contains(isNew ? .insert : .update),
        let document = try entities.document(entry.key, record)
      else { return nil }
      return put(document, isNew: isNew)
    case .gone(let reason):
      guard filter.operations.contains(.delete) else { return nil }
      return removal(of: entry, reason)
    }
  }

  /// Renders a mutation's outcome, which is stored as a document and belongs to no operation.
  private func outcome(_ key: EntityKey, _ record: EntityRecord, isNew: Bool) -> [UInt8]? {
    record.layers.first.map { body in
      put(
        EntityDocument(
          key: key, body: body, revision: EntityDigest.revision(of: body), missing: nil),
        isNew: isNew)
    }
  }

  private func put(_ document: EntityDocument, isNew: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.reserve(document.body.count + 96)
    writer.beginObject()
    Self.write("put", document.key, revision: document.revision, to: &writer)
    writer.name("new")
    writer.bool(isNew)
    writer.name("data")
    document.body.withUnsafeBufferPointer { writer.raw($0) }
    writer.endObject()
    return writer.bytes
  }

  private func removal(of entry: ChangePage.Entry, _ reason: ChangePage.Reason) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    Self.write("del", entry.key, revision: "d\(entry.revision.value)", to: &writer)
    writer.name("reason")
    writer.string(reason.rawValue)
    writer.endObject()
    return writer.bytes
  }

  private static func write(
    _ operation: String, _ key: EntityKey, revision: String, to writer: inout JSONWriter
  ) {
    writer.name("op")
    writer.string(operation)
    writer.name("type")
    writer.string(key.type)
    writer.name("id")
    writer.string(key.key)
    writer.name("rev")
    writer.string(revision)
  }
}

/// One page of changes as JSON, shared by all readers at the same position of the same log.
package final class RenderedChanges: Sendable {
  package struct Element: Sendable {
    /// `{"op":…}`.
    package let json: [UInt8]
    /// The cursor after the commit, on the commit's last element; nil on others.
    package let cursor: String?
  }

  package let elements: [Element]
  /// The cursor after the page.
  package let cursor: String
  package let next: ChangePlace
  /// Whether there was nothing after the page when it was read.
  package let isComplete: Bool
  private let frames = Mutex<[UInt8]?>(nil)

  init(elements: [Element], cursor: String, next: ChangePlace, isComplete: Bool) {
    self.elements = elements
    self.cursor = cursor
    self.next = next
    self.isComplete = isComplete
  }

  /// The page as server-sent events, created on first use.
  ///
  /// It is created outside the lock, twice if need be: readers run on event loops, and must not wait for one
  /// another.
  var eventFrames: [UInt8] {
    if let made = frames.withLock({ $0 }) { return made }
    var made: [UInt8] = []
    for element in elements {
      EventFrame.append(id: element.cursor, event: "change", data: element.json, to: &made)
    }
    frames.withLock { $0 = made }
    return made
  }
}
