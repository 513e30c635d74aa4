/// What came of presenting a refresh token.
package enum RefreshOutcome: Hashable, Sendable {
  case rotated(session: String, account: String)
  /// A token of the session's past: one of the two who have it stole it, so the session is ended.
  case reused(session: String, account: String)
  /// No session, or one that is over.
  case unknown
}
