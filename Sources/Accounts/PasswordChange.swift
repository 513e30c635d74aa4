/// A signed-in user's wish for another password. It prints without any.
package struct PasswordChange: Sendable, CustomStringConvertible, CustomReflectable {
  package let user: VerifiedUser
  /// What the user asks with, for a provider that must be asked who it is.
  package let accessToken: String
  package let current: String
  package let new: String

  package init(user: VerifiedUser, accessToken: String, current: String, new: String) {
    self.user = user
    self.accessToken = accessToken
    self.current = current
    self.new = new
  }

  package var description: String { "another password for \(user.id)" }
  package var customMirror: Mirror { Mirror(self, children: ["user": user.id]) }
}
