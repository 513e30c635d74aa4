package import Model

/// A link that stands for its maker's right to do one thing to one object for some time.
package struct PresignedURL: Hashable, Sendable {
  /// What follows the object's path.
  package let query: String
  package let expires: Timestamp
}
