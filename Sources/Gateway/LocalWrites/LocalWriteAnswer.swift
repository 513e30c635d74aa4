package import Model

/// What one local write did, as its client is told.
package enum LocalWriteAnswer: Sendable {
  case written(EntityDocument, isNew: Bool)
  case deleted(EntityKey)
}
