import GraphQL
package import Model
import Synchronization
import Upstream

/// A client's reference to a GraphQL document, in any of the forms that clients use.
package struct DocumentReference: Sendable {
  /// Alone it names a registered operation; with another form it must agree with that.
  package var operationName: String?
  /// An id as `GET /v1/operations` lists it.
  package var documentID: String?
  /// The `sha256Hash` of automatic persisted queries.
  package var hash: String?
  /// The text of the document.
  package var text: String?

  package init(
    operationName: String? = nil, documentID: String? = nil, hash: String? = nil,
    text: String? = nil
  ) {
    self.operationName = operationName
    self.documentID = documentID
    self.hash = hash
    self.text = text
  }
}

/// The document that a reference stands for.
package enum DocumentMatch: Sendable {
  case operation(ServedOperation)
  case unregistered(UnregisteredDocument)
}

/// A document that is not registered.
package struct UnregisteredDocument: Sendable {
  package let text: String
  /// Nil for an operation without a name.
  package let operationName: String?
  package let kind: OperationKind
}

/// Why a reference stands for no document.
package enum DocumentRefusal: Error, Sendable {
  /// No document has this hash: the client sends the text with its next request (automatic persisted
  /// queries).
  case hashUnknown
  /// The hash is not the SHA-256 of the text.
  case hashMismatch
  case failure(Failure)
}

/// The registered operations by the documents that GraphQL clients send.
///
/// A text is parsed and normalised once; its hash is then remembered, for each operation the hashes of
/// a bounded number of texts. Only hashes of texts that are registered are remembered.
///
/// A text with several operations is remembered for those of them that clients have selected: what a
/// hash stands for never depends on which operation of the text another client selected.
package final class DocumentDirectory: Sendable {
  /// The maximum number of remembered hashes of one operation's texts.
  static let learnedMax = 16
  /// Texts up to this size are read, and those up to four times the longest registered document.
  private static let textBytesMin = 256 << 10

  /// A text that was read: its registered operations that clients have selected.
  private struct Text {
    /// Whether the text has no other operation, so that no name needs to select it.
    var isAlone: Bool
    /// By name.
    var operations: [String: ServedOperation] = [:]
  }

  private struct Learned {
    /// By the hashes of the texts.
    var texts: [String: Text] = [:]
    /// The hashes of an operation, oldest first.
    var hashes: [String: [String]] = [:]
  }

  private let operations: [ServedOperation]
  private let byName: [String: ServedOperation]
  private let byID: [String: ServedOperation]
  /// By the digests of normal forms, and of a manifest's texts.
  private let byDigest: [String: ServedOperation]
  private let textBytesMax: Int
  private let learned = Mutex(Learned())

  init(operations: [ServedOperation]) {
    self.operations = operations
    func table(_ keys: (DocumentIdentity) -> [String]) -> [String: ServedOperation] {
      Dictionary(
        operations.flatMap { operation in
          keys(operation.registered.identity).map { ($0, operation) }
        }, uniquingKeysWith: { first, _ in first })
    }
    byName = Dictionary(operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    byID = table { [$0.id] }
    byDigest = table { [$0.normalDigest] + ($0.textDigest.map { [$0] } ?? []) }
    let longest = operations.map(\.registered.identity.byteCount).max() ?? 0
    textBytesMax = max(Self.textBytesMin, 4 * longest)
  }

  /// Finds the document of a request.
  package func match(_ reference: DocumentReference) throws(DocumentRefusal) -> DocumentMatch {
    let match = try find(reference)
    guard case .operation(let operation) = match else { return match }
    if let name = reference.operationName, name != operation.name {
      throw .failure(
        Failure(
          .malformedRequest,
          "operationName is \(name.prefix(Self.shownMax)), but the document's operation is "
            + "\(operation.name)."))
    }
    return match
  }

  private func find(_ reference: DocumentReference) throws(DocumentRefusal) -> DocumentMatch {
    if let text = reference.text { return try find(text: text, reference) }
    if let id = reference.documentID {
      guard let operation = try operation(id: id, name: reference.operationName) else {
        throw .failure(
          Failure(
            .documentUnknown,
            "No registered document has this documentId; GET /v1/operations lists them."))
      }
      return .operation(operation)
    }
    if let hash = reference.hash?.lowercased() {
      if let operation = byID[hash] { return .operation(operation) }
      guard let operation = try operation(digest: hash, name: reference.operationName) else {
        throw .hashUnknown
      }
      return .operation(operation)
    }
    guard let name = reference.operationName else {
      throw .failure(
        Failure(
          .malformedRequest,
          "The request names no document: send operationName, documentId, "
            + "extensions.persistedQuery or query."))
    }
    guard let operation = byName[name] else {
      let hint = NearestNames.didYouMean(name, among: operations.map(\.name))
      throw .failure(
        Failure(
          .documentUnknown, "There is no operation named \(name.prefix(Self.shownMax)).\(hint)"))
    }
    return .operation(operation)
  }

  /// Finds an operation by the id that is listed; the prefix `sha256:` of persisted documents is
  /// optional.
  private func operation(
    id: String, name: String?
  ) throws(DocumentRefusal) -> ServedOperation? {
    if let operation = byID[id] { return operation }
    let prefix = "sha256:"
    guard id.hasPrefix(prefix) else { return nil }
    let digest = id.dropFirst(prefix.count).lowercased()
    if let operation = byID[digest] { return operation }
    return try operation(digest: digest, name: name)
  }

  /// Finds the operation of a text by the text's digest; nil if the text is not known, or nothing is
  /// known of the selected operation.
  ///
  /// - Parameter name: the name that selects one of several operations.
  private func operation(
    digest: String, name: String?
  ) throws(DocumentRefusal) -> ServedOperation? {
    if let operation = byDigest[digest] { return operation }
    guard let text = learned.withLock({ $0.texts[digest] }) else { return nil }
    if text.isAlone { return text.operations.first?.value }
    guard let name else { throw .failure(Self.failure(of: .ambiguous)) }
    return text.operations[name]
  }

  // MARK: Texts

  private func find(
    text: String, _ reference: DocumentReference
  ) throws(DocumentRefusal) -> DocumentMatch {
    guard text.utf8.count <= textBytesMax else {
      throw .failure(
        Failure(
          .documentUnknown,
          "The document has \(text.utf8.count) bytes; no registered one is as large, and the limit "
            + "is \(textBytesMax)."))
    }
    let digest = DocumentDigest.hexadecimal(of: text)
    if let hash = reference.hash, hash.lowercased() != digest { throw .hashMismatch }
    let match = try find(text: text, digest: digest, name: reference.operationName)
    guard let id = reference.documentID else { return match }
    guard case .operation(let operation) = match,
      try self.operation(id: id, name: reference.operationName) === operation
    else {
      throw .failure(
        Failure(.documentUnknown, "documentId and query are of different documents."))
    }
    return match
  }

  private func find(
    text: String, digest: String, name: String?
  ) throws(DocumentRefusal) -> DocumentMatch {
    if let operation = try operation(digest: digest, name: name),
      name == nil || name == operation.name
    {
      return .operation(operation)
    }
    let normal: NormalDocument
    do throws(NormalDocument.Fault) {
      normal = try NormalDocument(parsing: text, operationName: name)
    } catch {
      throw .failure(Self.failure(of: error))
    }
    if let operation = byDigest[normal.digest] {
      learn(digest, of: operation, isAlone: normal.isAlone)
      return .operation(operation)
    }
    if let name = normal.name, let operation = byName[name] {
      throw .failure(
        Failure(
          .documentUnknown,
          "The operation \(name) is registered with another document. Send the registered one, or "
            + "its documentId \(operation.registered.identity.id)."))
    }
    let kind: OperationKind =
      switch normal.kind {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
    return .unregistered(
      UnregisteredDocument(text: text, operationName: normal.name, kind: kind))
  }

  private func learn(_ digest: String, of operation: ServedOperation, isAlone: Bool) {
    learned.withLock { learned in
      let former = learned.texts[digest, default: Text(isAlone: isAlone)]
        .operations.updateValue(operation, forKey: operation.name)
      guard former == nil else { return }
      learned.hashes[operation.name, default: []].append(digest)
      guard learned.hashes[operation.name, default: []].count > Self.learnedMax else { return }
      if let oldest = learned.hashes[operation.name]?.removeFirst() {
        learned.texts[oldest]?.operations[operation.name] = nil
        if learned.texts[oldest]?.operations.isEmpty == true { learned.texts[oldest] = nil }
      }
    }
  }

  private static func failure(of fault: NormalDocument.Fault) -> Failure {
    switch fault {
    case .syntax(let message):
      Failure(.malformedRequest, "The document does not parse: \(message)")
    case .empty:
      Failure(.malformedRequest, "The document has no operation.")
    case .ambiguous:
      Failure(
        .malformedRequest, "The document has several operations: operationName must select one.")
    case .missing(let name):
      Failure(
        .malformedRequest, "The document has no operation named \(name.prefix(shownMax)).")
    case .repeated(let kind, let name):
      Failure(
        .malformedRequest,
        "The document has two \(kind) named \(name.prefix(shownMax)); names must be unique.")
    case .unnamed:
      Failure(
        .malformedRequest,
        "The document has several operations, one of them without a name; name all of them.")
    }
  }

  /// Characters of a client's name in a message.
  private static let shownMax = 100
}
