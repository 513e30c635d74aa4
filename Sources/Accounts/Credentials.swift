/// What a user signs in with. It prints without the password.
package struct Credentials: Sendable, CustomStringConvertible, CustomReflectable {
  package let email: EmailAddress
  package let password: String

  package init(email: EmailAddress, password: String) {
    self.email = email
    self.password = password
  }

  package var description: String { "\(email), ********" }
  package var customMirror: Mirror { Mirror(self, children: ["email": email]) }
}
