/// What conditions judge of a stored object.
package struct ObjectState: Hashable, Sendable {
  /// The entity tag without its quotes.
  package let tag: String
  package let modified: Timestamp

  package init(tag: String, modified: Timestamp) {
    self.tag = tag
    self.modified = modified
  }
}

extension ObjectMetadata {
  package var state: ObjectState { ObjectState(tag: tag, modified: modified) }
}
