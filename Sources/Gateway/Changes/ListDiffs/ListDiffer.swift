package import Model
package import Storage
import Upstream

/// Tells how a list that a client has became the list as it is: of entities, flat, each with its
/// `_rev`.
package final class ListDiffer: Sendable {
  /// What the client has.
  package enum Base: Sendable {
    case nothing
    /// The opaque part of the tag of a list it was given.
    case tag(String)
    case rows(ListVector)
  }

  package enum Outcome: Sendable {
    /// The client has it.
    case unchanged(tag: String)
    case body([UInt8], tag: String)
  }

  /// Vectors of lists that were asked for: some two hundred of five hundred rows.
  private static let memoryBytesMax = 8 << 20

  private let reader: QueryReader
  private let store: Store
  private let entities: EntityRenderer
  private let cursors: CursorMint
  private let memory = ListMemory(byteLimit: ListDiffer.memoryBytesMax)

  package init(
    reader: QueryReader, store: Store, entities: EntityRenderer, cursors: CursorMint
  ) {
    self.reader = reader
    self.store = store
    self.entities = entities
    self.cursors = cursors
  }

  /// The first list of a query's answer, read as any read of it would be.
  package func diff(
    of request: ReadRequest, from base: Base
  ) async throws(Failure) -> Outcome {
    let head = cursors.head
    _ = try await reader.read(request)
    let documents = try await documents(of: request)
    let cursor = cursors.cursor(for: request.caller.viewer, at: head)
    return outcome(
      documents, seenBy: request.caller.viewer(of: request.scope), from: base,
      cursor: String(decoding: cursor, as: UTF8.self))
  }

  /// - Parameter documents: the list as it is.
  package func outcome(
    _ documents: [EntityDocument], seenBy viewer: Viewer, from base: Base, cursor: String
  ) -> Outcome {
    let vector = ListVector(
      rows: documents.map {
        ListVector.Row(id: $0.key.description, revision: $0.revision)
      })
    let tag = vector.tag
    if case .tag(tag) = base { return .unchanged(tag: tag) }
    memory.keep(vector, tag: tag, seenBy: viewer)
    let writer = ListDiffWriter(
      documents: documents, vector: vector, tag: "\"\(tag)\"", cursor: cursor)
    let full = writer.full()
    guard let old = known(base, seenBy: viewer) else { return .body(full, tag: tag) }
    let diff = writer.diff(
      vector.diff(from: old.vector), from: old.vector, base: old.tag.map { "\"\($0)\"" })
    return .body(diff.count < full.count ? diff : full, tag: tag)
  }

  private struct Known {
    let vector: ListVector
    let tag: String?
  }

  private func known(_ base: Base, seenBy viewer: Viewer) -> Known? {
    switch base {
    case .nothing: return nil
    case .tag(let tag):
      return memory.vector(tagged: tag, seenBy: viewer).map { Known(vector: $0, tag: tag) }
    case .rows(let vector): return Known(vector: vector, tag: nil)
    }
  }

  private func documents(of request: ReadRequest) async throws(Failure) -> [EntityDocument] {
    let selection = request.operation.selection(for: request.variables)
    let snapshot: ResultSnapshot?
    let keys: [EntityKey]?
    do {
      snapshot = try await store.result(
        request.key, selection: selection, viewer: request.caller.viewer(of: request.scope))
      keys = try snapshot.flatMap { try FirstList($0).members(selection) }
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be read at present.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
    guard let snapshot, let keys else {
      throw Failure(
        .malformedRequest, "\(request.operation.name) shows no list of entities that is stored.")
    }
    var documents: [EntityDocument] = []
    for key in keys {
      guard let record = snapshot.entities[key],
        let document = try entities.document(key, record)
      else { continue }
      documents.append(document)
    }
    return documents
  }
}
