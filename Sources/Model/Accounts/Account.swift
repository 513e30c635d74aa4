/// A user whose password is kept here, as the store keeps it.
package struct Account: Hashable, Sendable {
  /// The subject of the user's tokens.
  package let id: String
  /// In the spelling that is compared.
  package let email: String
  /// With all that is needed to check a password against it.
  package let passwordHash: String
  package let created: Timestamp

  package init(id: String, email: String, passwordHash: String, created: Timestamp) {
    self.id = id
    self.email = email
    self.passwordHash = passwordHash
    self.created = created
  }
}
