package import Model

/// What one write did, as its client is told.
package enum EntityWriteOutcome: Sendable {
  case written(EntityDocument, isNew: Bool)
  case deleted(EntityKey)
  /// How many entities a filter held of.
  case matched(Int)
}

extension EntityRenderer {
  func answer(_ outcome: WriteOutcome) throws(Failure) -> EntityWriteOutcome {
    switch outcome {
    case .written(let key, let record, let isNew):
      guard let document = try document(key, record) else {
        throw Failure(.internal, "The entity cannot be told.", cause: "\(key.type) is not known")
      }
      return .written(document, isNew: isNew)
    case .deleted(let key): return .deleted(key)
    case .matched(let count): return .matched(count)
    }
  }
}
