import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `/v1/auth`: signing up, in and out.
///
/// The routes that take credentials or a refresh token do not ask who the caller is: a client whose
/// access token has expired sends it along when it comes to refresh it.
struct AccountsEndpoint: Sendable {
  let context: EndpointContext
  let accounts: AccountService
  /// The keys of our users' tokens; nil where another service issues them.
  let signingKeys: SigningKeyService?
  let epoch: CredentialEpoch

  func signUp(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "email", "password")
      let session = try await accounts.signUp(
        email: texts[0], password: texts[1],
        isAdmin: context.callers.isAdmin { request.field($0) }, request.accountCall)
      return .json(AccountDocument.bytes(session), status: .created)
    }
  }

  func signIn(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "email", "password")
      let session = try await accounts.signIn(
        email: texts[0], password: texts[1], request.accountCall)
      return .json(AccountDocument.bytes(session))
    }
  }

  func refresh(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "refreshToken")
      return .json(
        AccountDocument.bytes(try await accounts.refresh(texts[0], request.accountCall)))
    }
  }

  func signOut(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "refreshToken")
      try await accounts.signOut(texts[0], request.accountCall)
      return .nothing
    }
  }

  func checkPassword(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "email", "password")
      try await accounts.checkPassword(
        email: texts[0], password: texts[1], request.accountCall)
      return .nothing
    }
  }

  func changePassword(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "currentPassword", "newPassword")
      try await accounts.changePassword(
        of: caller, from: texts[0], to: texts[1], request.accountCall)
      return .nothing
    }
  }

  func me(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let me = try await accounts.me(try await context.caller(of: request))
      return .json(AccountDocument.bytes(user: me.user, email: me.email))
    }
  }

  /// RFC 7517 section 5. Caches may keep it: a new key signs long after it is first shown.
  func keys(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      return .json(try ownKeys().published.bytes, cacheControl: "public, max-age=300")
    }
  }

  /// Replaces the keys that sign tokens, for when one of them may be known to somebody else.
  func replaceKeys(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      let body = try AdminDocument.object(try await context.json(of: request))
      guard body.members?.isEmpty ?? true else {
        throw Failure(.malformedRequest, "The body must be empty or an empty object.")
      }
      let count = try await ownKeys().replaceAll()
      epoch.end()
      let answer: JSONValue = ["replaced": .number(JSONNumber(count))]
      return .json(answer.bytes)
    }
  }

  private func ownKeys() throws(Failure) -> SigningKeyService {
    guard let signingKeys else {
      throw Failure(.notFound, "Tokens are signed by the account provider, not here.")
    }
    return signingKeys
  }
}

extension ServerRequest {
  fileprivate var accountCall: AccountCall {
    AccountCall(address: clientHost, network: network, deviceToken: field("device-token"))
  }
}

extension ServerResponse {
  fileprivate static var nothing: ServerResponse {
    ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
  }
}
