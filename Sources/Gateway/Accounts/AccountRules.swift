/// Who may open an account, and how often passwords may be tried.
package struct AccountRules: Sendable {
  /// Whether anybody may sign up, or the operator alone.
  package var isSignUpOpen: Bool
  /// Wrong passwords for one account in a minute, from all networks that it never signed in from
  /// together and from each other one.
  package var triesPerMinute: Int
  /// Calls that are counted from one network in a minute: it may stand for many users.
  package var callsPerMinute: Int

  package init(isSignUpOpen: Bool, triesPerMinute: Int, callsPerMinute: Int) {
    self.isSignUpOpen = isSignUpOpen
    self.triesPerMinute = triesPerMinute
    self.callsPerMinute = callsPerMinute
  }
}
