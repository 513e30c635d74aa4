import LosslessJSON
import Synchronization

/// How documents are sent upstream.
package enum DocumentSending: Hashable, Sendable {
  /// The whole text with every call.
  case text
  /// By SHA-256, and the text once for each document that upstream does not know: Apollo's automatic
  /// persisted queries.
  case hash
}

/// What an upstream has said about documents that are sent by hash.
///
/// An upstream that does not know a hash has executed nothing, so the call is repeated with the text,
/// mutations too. A document whose hash stays unknown although its text was sent is sent as text from
/// then on, so that no call of it costs two requests for ever.
final class PersistedDocuments: Sendable {
  /// Upstream's objection to a document that was sent by hash.
  enum Objection {
    /// The hash is not known: the text is sent with it once.
    case unknown
    /// Upstream takes no hashes: texts are sent from now on.
    case unsupported
  }

  /// How often in a row upstream can forget a document that it was given, as one of several servers
  /// without a common store does.
  private static let refusalsMax = 8

  /// False once upstream has refused hashes; it is asked again after a restart.
  private let takesHashes = Atomic(true)
  /// By operation: 0 for a document whose hash upstream knows, otherwise its refusals in a row.
  private let refusals = Mutex<[String: Int]>([:])

  /// Whether the document of an operation is sent by its hash.
  func isInUse(for operation: String) -> Bool {
    takesHashes.load(ordering: .relaxed)
      && refusals.withLock { $0[operation, default: 0] } < Self.refusalsMax
  }

  func note(_ objection: Objection, of operation: String) {
    switch objection {
    case .unsupported: takesHashes.store(false, ordering: .relaxed)
    case .unknown: refusals.withLock { $0[operation, default: 0] += 1 }
    }
  }

  /// Notes that upstream has refused a hash in a way of its own. Such an upstream has no notion of
  /// hashes: if it accepts the text, that is how this document is sent.
  func noteMisunderstanding(of operation: String) {
    refusals.withLock { $0[operation] = Self.refusalsMax }
  }

  /// Notes that upstream knows the hash.
  func noteSuccess(of operation: String) {
    refusals.withLock { $0[operation] = 0 }
  }

  /// Whether upstream has executed the document by its hash, so that errors are the request's.
  func isKnown(_ operation: String) -> Bool { refusals.withLock { $0[operation] == 0 } }

  /// Reads an objection; nil for any other response.
  static func objection(in response: UpstreamResponse) -> Objection? {
    guard response.data == nil, let errors = response.errors else { return nil }
    for error in errors.elements {
      let said = [error["message"]?.string, error["extensions"]?["code"]?.string]
      if said.contains("PersistedQueryNotFound") || said.contains("PERSISTED_QUERY_NOT_FOUND") {
        return .unknown
      }
      if said.contains("PersistedQueryNotSupported")
        || said.contains("PERSISTED_QUERY_NOT_SUPPORTED")
      {
        return .unsupported
      }
    }
    return nil
  }
}
