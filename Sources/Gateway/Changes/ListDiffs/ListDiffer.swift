import LosslessJSON
package import Model
package import Storage
import Upstream

/// Computes the diff from a list that a client has to the current one: a flat list of entities, each
/// with its `_rev`.
package final class ListDiffer: Sendable {
  /// The list that the client has.
  package enum Base: Sendable {
    case nothing
    /// The opaque part of the entity tag of a list that it received.
    case tag(String)
    case rows(ListVector)
  }

  package enum Outcome: Sendable {
    /// The client's list is current.
    case unchanged(tag: String)
    case body([UInt8], tag: String)
  }

  private let reader: QueryReader
  private let collections: EntityReader
  private let store: ReadSession
  private let entities: EntityRenderer
  private let cursors: CursorIssuer
  private let memory: ListMemory

  /// - Parameter memory: the one in which `collections` keeps its lists.
  package init(
    reader: QueryReader, collections: EntityReader, store: ReadSession, entities: EntityRenderer,
    cursors: CursorIssuer, memory: ListMemory
  ) {
    self.reader = reader
    self.collections = collections
    self.store = store
    self.entities = entities
    self.cursors = cursors
    self.memory = memory
  }

  // MARK: Operations

  /// Returns the diff of the first list in a query's response, which is read like any other read.
  package func diff(
    of request: ReadRequest, from base: Base
  ) async throws(Failure) -> Outcome {
    let head = cursors.head
    let response = try await reader.read(request)
    let viewer = reader.effectiveViewer(of: request)
    if case .tag(let tag) = base {
      // The client can send the tag of the response itself, so its list is kept under that too.
      await note(response, to: request)
      if tag == response.rendered.tag { return .unchanged(tag: tag) }
    }
    guard let documents = try await documents(of: request, seenBy: viewer) else {
      throw Failure(
        .malformedRequest,
        "\(request.operation.name) selects no list of entities, or its result is not stored.")
    }
    let vector = ListVector(documents)
    // The client's list can be from before overlays were added or removed.
    let viewers = [viewer] + request.possibleViewers.filter { $0 != viewer }
    // A list that has not changed keeps the tag that the client knows.
    if case .tag(let tag) = base,
      known(base, seenBy: viewers)?.vector.rows == vector.rows
    {
      return .unchanged(tag: tag)
    }
    return outcome(
      documents, seenBy: viewers, tag: vector.tag, from: base,
      cursor: cursor(for: request.caller, at: head))
  }

  /// Remembers the list of a response whose client can come back with the response's tag. A list
  /// whose stored state differs from the response is not kept.
  func note(_ response: ReadResponse, to request: ReadRequest) async {
    let rendered = response.rendered
    let viewer = reader.effectiveViewer(of: request)
    let selection = request.operation.selection(for: request.variables)
    guard rendered.unkept == nil, memory.vector(tagged: rendered.tag, seenBy: viewer) == nil,
      FirstList.exists(in: selection),
      let snapshot = try? await store.result(request.key, selection: selection, viewer: viewer),
      let documents = try? documents(of: snapshot, selection)
    else { return }
    // The stored state is that of the response, unless a commit touched it in between.
    let isSame =
      rendered.isCurrent
      || ResultRenderer.render(
        snapshot, selection: selection, onError: request.policy.onError,
        showsPending: viewer != request.sharedViewer
      ).body == rendered.body
    if isSame { memory.keep(ListVector(documents), tag: rendered.tag, seenBy: viewer) }
  }

  // MARK: Collections

  /// Returns the diff of a page of a type's entities.
  package func diff(
    ofType type: String, parameters: [CollectionRequest.Parameter], caller: Caller, from base: Base
  ) async throws(Failure) -> Outcome {
    let head = cursors.head
    let list = try await collections.list(of: type, parameters: parameters, caller: caller)
    return outcome(list, for: caller, from: base, cursor: cursor(for: caller, at: head))
  }

  /// Returns the diff of a page of a relationship's entities.
  package func diff(
    ofRelationship field: String, of key: EntityKey, parameters: [CollectionRequest.Parameter],
    caller: Caller, from base: Base
  ) async throws(Failure) -> Outcome {
    let head = cursors.head
    let list = try await collections.list(
      ofRelationship: field, of: key, parameters: parameters, caller: caller)
    return outcome(list, for: caller, from: base, cursor: cursor(for: caller, at: head))
  }

  /// Returns the diff of a page, with the tag that a plain read of the same page has.
  private func outcome(
    _ list: EntityList, for caller: Caller, from base: Base, cursor: String
  ) -> Outcome {
    outcome(
      list.documents, seenBy: [caller.viewer], tag: EntityDigest.tag(of: list.body), from: base,
      cursor: cursor, writeRest: { list.writeRest(to: &$0) })
  }

  private func cursor(for caller: Caller, at head: Revision) -> String {
    String(decoding: cursors.cursor(for: caller.viewer, at: head), as: UTF8.self)
  }

  // MARK: Diffs

  /// - Parameters:
  ///   - documents: the current list.
  ///   - viewers: the current view, then those that the client's list can be from.
  private func outcome(
    _ documents: [EntityDocument], seenBy viewers: [Viewer], tag: String, from base: Base,
    cursor: String,
    writeRest: @escaping (inout JSONWriter) -> Void = { _ in }
  ) -> Outcome {
    let vector = ListVector(documents)
    if let viewer = viewers.first { memory.keep(vector, tag: tag, seenBy: viewer) }
    if case .tag(tag) = base { return .unchanged(tag: tag) }
    let writer = ListDiffWriter(
      documents: documents, vector: vector, tag: "\"\(tag)\"", cursor: cursor,
      writeRest: writeRest)
    let full = writer.full()
    guard let old = known(base, seenBy: viewers) else { return .body(full, tag: tag) }
    let diff = writer.diff(
      vector.diff(from: old.vector), from: old.vector, base: old.tag.map { "\"\($0)\"" })
    return .body(diff.count < full.count ? diff : full, tag: tag)
  }

  private struct Known {
    let vector: ListVector
    let tag: String?
  }

  private func known(_ base: Base, seenBy viewers: [Viewer]) -> Known? {
    switch base {
    case .nothing: return nil
    case .tag(let tag):
      return viewers.lazy.compactMap { [memory] in memory.vector(tagged: tag, seenBy: $0) }.first
        .map { Known(vector: $0, tag: tag) }
    case .rows(let vector): return Known(vector: vector, tag: nil)
    }
  }

  /// Returns the members of the query's first list; nil if it has no list, or nothing of it is stored.
  private func documents(
    of request: ReadRequest, seenBy viewer: Viewer
  ) async throws(Failure) -> [EntityDocument]? {
    let selection = request.operation.selection(for: request.variables)
    do {
      let snapshot = try await store.result(
        request.key, selection: selection, viewer: viewer)
      return try snapshot.flatMap { try documents(of: $0, selection) }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be read; retry later.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
  }

  private func documents(
    of snapshot: ResultSnapshot, _ selection: FieldSelection
  ) throws -> [EntityDocument]? {
    guard let keys = try FirstList(snapshot).members(selection) else { return nil }
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
