/// Why an account provider did not do what was asked.
package enum AccountFault: Error, Hashable, Sendable {
  /// Wrong address or wrong password; nobody is told which.
  case wrongCredentials
  /// The refresh token is unknown, used or too old: sign in anew.
  case sessionExpired
  case accountExists
  /// The new password breaks these rules, in words for whoever chose it.
  case weakPassword([String])
  /// The account asks for a second factor, which no route here takes.
  case mfaRequired
  /// Too many wrong passwords, or blocked by an operator: waiting a little does not help.
  case blocked
  /// The password was found in a leak elsewhere and must be reset.
  case passwordLeaked
  /// Refused by a rule of the provider's, such as a suspicious request.
  case denied
  case rateLimited(after: Duration?)
  /// As much of this work waits already as may.
  case overloaded
  /// The provider refuses this service, not the user. The cause is for operators.
  case misconfigured(cause: String)
  /// The store of our own accounts takes or gives nothing at present.
  case storeUnavailable(cause: String)
  /// No answer of use. - Parameter wasSent: the provider may have done what was asked.
  case unavailable(cause: String, wasSent: Bool)
}
