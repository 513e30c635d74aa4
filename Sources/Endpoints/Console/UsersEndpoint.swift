import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `/v1/admin/users`: the local accounts, for operators.
struct UsersEndpoint: Sendable {
  let context: EndpointContext
  /// Nil if another service keeps the accounts.
  let directory: AccountDirectory?
  let epoch: CredentialEpoch

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let directory = try accounts()
      let parameters = try ConsoleParameters(request, own: ["email"])
      let page = try await directory.page(
        after: parameters.after ?? "", containing: parameters["email"] ?? "",
        limit: parameters.limit + 1)
      return ConsolePage.response(page, limit: parameters.limit, id: \.id, value: Self.value)
    }
  }

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      .json(Self.value(try await accounts().account(request.parameters["user"] ?? "")).bytes)
    }
  }

  /// Ends all sessions of an account.
  func signOut(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let directory = try accounts()
      // The body is not used; reading it refuses other media types, and so a post without a preflight.
      _ = try await context.json(of: request)
      let ended = try await directory.signOut(request.parameters["user"] ?? "")
      let body: JSONValue = ["ended": .number(JSONNumber(ended))]
      return .json(body.bytes)
    }
  }

  /// Refuses everything of an account until it is enabled.
  func disable(_ request: ServerRequest) async -> ServerResponse {
    await change(request) { directory, user throws(Failure) in
      // After the account is refused: what was cached for its tokens before is served no more.
      defer { epoch.end() }
      try await directory.disable(user)
    }
  }

  func enable(_ request: ServerRequest) async -> ServerResponse {
    await change(request) { directory, user throws(Failure) in
      try await directory.enable(user)
    }
  }

  /// Changes an account, and responds with it.
  private func change(
    _ request: ServerRequest,
    _ body: (AccountDirectory, String) async throws(Failure) -> Void
  ) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let directory = try accounts()
      // As above.
      _ = try await context.json(of: request)
      let user = request.parameters["user"] ?? ""
      try await body(directory, user)
      return .json(Self.value(try await directory.account(user)).bytes)
    }
  }

  private func accounts() throws(Failure) -> AccountDirectory {
    guard let directory else {
      throw Failure(.notFound, "Another service keeps the accounts (accounts.provider).")
    }
    return directory
  }

  private static func value(_ account: AccountSummary) -> JSONValue {
    var value: JSONValue = [
      "id": .string(account.id), "email": .string(account.email),
      "createdAt": ConsolePage.time(account.created),
      "sessions": .number(JSONNumber(account.sessions)),
      "disabled": .bool(account.isDisabled),
    ]
    if let lastUsed = account.lastUsed { value["lastUsedAt"] = ConsolePage.time(lastUsed) }
    return value
  }
}
