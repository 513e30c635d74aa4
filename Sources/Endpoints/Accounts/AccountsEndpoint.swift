import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `/v1/auth`: sign-up, sign-in, refresh and sign-out.
///
/// The routes that take credentials or a refresh token do not identify the caller: a client that
/// refreshes its tokens still sends its expired access token.
struct AccountsEndpoint: Sendable {
  let context: EndpointContext
  let accounts: AccountService
  /// The keys that sign users' access tokens; nil if another service signs them.
  let signingKeys: SigningKeyService?
  let epoch: CredentialEpoch

  func signUp(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "email", "password")
      let session = try await accounts.signUp(
        email: texts[0], password: texts[1],
        isAdmin: try context.operators.role(of: request) == .admin, request.accountCall)
      return .json(AccountDocument.bytes(session), status: .created)
    }
  }

  func signIn(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "email", "password")
      let session = try await accounts.signIn(
        email: texts[0], password: texts[1], request.accountCall)
      return .json(AccountDocument.bytes(session))
    }
  }

  func refresh(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "refreshToken")
      return .json(
        AccountDocument.bytes(try await accounts.refresh(texts[0], request.accountCall)))
    }
  }

  func signOut(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "refreshToken")
      try await accounts.signOut(texts[0], request.accountCall)
      return .nothing
    }
  }

  func checkPassword(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "email", "password")
      try await accounts.checkPassword(
        email: texts[0], password: texts[1], request.accountCall)
      return .nothing
    }
  }

  func changePassword(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let texts = try AccountDocument.texts(
        try await context.json(of: request), "currentPassword", "newPassword")
      try await accounts.changePassword(
        of: caller, from: texts[0], to: texts[1], request.accountCall)
      return .nothing
    }
  }

  func me(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let me = try await accounts.me(try await context.caller(of: request))
      return .json(AccountDocument.bytes(user: me.user, email: me.email))
    }
  }

  /// Shows the key set (RFC 7517 section 5). Caches can store it: a new key is published long before it
  /// is used to sign.
  func keys(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      return .json(try ownKeys().published.bytes, cacheControl: "public, max-age=300")
    }
  }

  /// Replaces the keys that sign tokens, for use when one may have been disclosed.
  func replaceKeys(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let body = try ObjectBody.object(try await context.json(of: request))
      guard body.members?.isEmpty ?? true else {
        throw Failure(.malformedRequest, "The body must be empty or an empty object.")
      }
      let count = try await ownKeys().replaceAll()
      epoch.end()
      let response: JSONValue = ["replaced": .number(JSONNumber(count))]
      return .json(response.bytes)
    }
  }

  /// Deletes any account; requires the admin token.
  func removeForOperator(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      try await accounts.remove(account: request.parameters["user"] ?? "")
      epoch.end()
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    }
  }

  private func ownKeys() throws(Failure) -> SigningKeyService {
    guard let signingKeys else {
      throw Failure(
        .notFound, "Access tokens are signed by the account provider, so no keys are kept here.")
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

/// The JSON of the account routes: objects of strings in requests, tokens in responses.
enum AccountDocument {
  /// Far more than any e-mail address, password or refresh token has.
  private static let bytesMax = 8 * 1024

  /// The members of a body, which must be exactly `names` and strings, in the order of `names`.
  static func texts(_ bytes: [UInt8], _ names: String...) throws(Failure) -> [String] {
    let body = try ObjectBody.object(bytes)
    var faults = ObjectBody.unknownMembers(of: body, known: names)
    var texts: [String] = []
    for name in names {
      if let text = body[name]?.string, 1...bytesMax ~= text.utf8.count {
        texts.append(text)
      } else {
        faults.append(ObjectBody.fault("/\(name)", "must be a string of 1 to \(bytesMax) bytes"))
      }
    }
    guard faults.isEmpty else {
      throw Failure(.malformedRequest, "The body is invalid.", details: faults)
    }
    return texts
  }

  static func bytes(_ session: SignedIn) -> [UInt8] {
    let body: JSONValue = [
      "accessToken": .string(session.accessToken),
      "refreshToken": .string(session.refreshToken),
      "expiresIn": .number(JSONNumber(session.expiresIn.wholeSeconds)),
      "userId": .string(session.user),
    ]
    return body.bytes
  }

  static func bytes(user: String, email: String?) -> [UInt8] {
    var body: JSONValue = ["userId": .string(user)]
    if let email { body["email"] = .string(email) }
    return body.bytes
  }
}
