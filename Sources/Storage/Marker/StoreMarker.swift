/// What ties a database to the folder and the key that it was made with: what was emptied, replaced or
/// brought together from several places is found by it.
package struct StoreMarker: Hashable, Sendable {
  /// Random, made with the database; the folder keeps a copy.
  package let folder: String
  /// Of the key that secrets in the database are sealed with.
  package let keyDigest: String

  package init(folder: String, keyDigest: String) {
    self.folder = folder
    self.keyDigest = keyDigest
  }
}
