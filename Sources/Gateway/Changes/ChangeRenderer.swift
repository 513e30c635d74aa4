import LosslessJSON
import Model
import Storage

/// Makes the JSON of a page of changes for one viewer and filter.
struct ChangeRenderer {
  let entities: EntityRenderer
  let desk: CursorValidator
  let viewer: Viewer
  let filter: ChangeFilter

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
    // Where the page ends inside a commit, that commit's last element is still to come.
    if let lastRevision, page.next.place.isEmpty || lastRevision < page.next.revision {
      close(&elements, at: lastRevision, origin: page)
    }
    let next = ChangePlace(position: page.next, origin: page.origin)
    return RenderedChanges(
      elements: elements, cursor: desk.text(at: next, viewer: viewer, filter: filter), next: next,
      isComplete: page.isComplete)
  }

  /// Gives a commit's last element its cursor. One behind the last commit of a complete page is
  /// the page's own.
  private func close(
    _ elements: inout [RenderedChanges.Element], at revision: Revision, origin page: ChangePage
  ) {
    guard let last = elements.popLast() else { return }
    let isEnd = page.isComplete && revision >= page.next.revision
    let place = ChangePlace(
      position: LogPosition(revision: revision),
      origin: isEnd ? page.origin : page.readingOrigin)
    elements.append(
      RenderedChanges.Element(
        json: last.json, cursor: desk.text(at: place, viewer: viewer, filter: filter)))
  }

  // MARK: Elements

  /// Nil for what the filter leaves out, and for what no operation shows any more.
  private func json(of entry: ChangePage.Entry) throws(Failure) -> [UInt8]? {
    switch entry.sight {
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

  /// What became of a mutation: a document already, and no entity of any operation's.
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
