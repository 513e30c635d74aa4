/// What Auth0 is asked for: the same error means another thing at another request.
enum Auth0Request: Hashable, Sendable {
  case signUp
  case signIn
  case refresh
  case revoke
  case profile
  case managementToken
  case setPassword
  case endSessions
}
