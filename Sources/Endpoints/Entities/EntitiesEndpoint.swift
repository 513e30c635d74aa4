import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// `GET` and `HEAD` below `/v1/entities`: the stored entities, as REST.
///
/// The id of an entity with several key fields is its key values in declared order, each after its
/// length in UTF-8 bytes and a colon: `2:de4:1990`. Relationships and changes use the same text.
struct EntitiesEndpoint: Sendable {
  let context: EndpointContext
  let entities: EntityReader
  let cursors: CursorIssuer

  func types(_ request: ServerRequest) async -> ServerResponse {
    await respond(request) { caller async throws(Failure) in
      try await entities.types(for: caller)
    }
  }

  func collection(_ request: ServerRequest) async -> ServerResponse {
    await respond(request) { caller async throws(Failure) in
      try await entities.collection(
        of: request.type, parameters: try Self.parameters(request),
        wantsTotal: request.method == .head, caller: caller)
    }
  }

  func entity(_ request: ServerRequest) async -> ServerResponse {
    await respond(request) { caller async throws(Failure) in
      try await entities.entity(
        request.key, parameters: try Self.parameters(request), caller: caller)
    }
  }

  /// - Parameter name: of the relationship, if the route's pattern has it as a literal.
  func relationship(
    _ request: ServerRequest, named name: String? = nil
  ) async -> ServerResponse {
    await respond(request) { caller async throws(Failure) in
      try await entities.relationship(
        name ?? request.parameters["relationship"] ?? "", of: request.key,
        parameters: try Self.parameters(request), wantsTotal: request.method == .head,
        caller: caller)
    }
  }

  func search(_ request: ServerRequest) async -> ServerResponse {
    await respond(request) { caller async throws(Failure) in
      try await entities.search(try Self.parameters(request), caller: caller)
    }
  }

  // MARK: Responses

  private func respond(
    _ request: ServerRequest,
    _ body: (Caller) async throws(Failure) -> EntityReader.Response
  ) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      // Noted before the read, so that the cursor is never ahead of the data.
      let head = cursors.head
      let read = try await entities.timed { () async throws(Failure) in
        try await body(caller)
      }
      return response(to: request, read, caller: caller, head: head)
    }
  }

  private func response(
    to request: ServerRequest, _ read: EntityReader.Response, caller: Caller, head: Revision
  ) -> ServerResponse {
    let isPrivate = caller.isKnown || caller.device != nil
    var fields: HTTPFields = [
      .eTag: EntityTag(read.tag).text,
      .cacheControl: "\(isPrivate ? "private" : "public"), no-cache",
      .vary: ReadFields.vary(context.callers.forwardedNames),
      .syncCursor: String(
        decoding: cursors.cursor(for: caller.viewer, at: head), as: UTF8.self),
    ]
    if let total = read.total { fields[.totalCount] = "\(total)" }
    if let age = read.age { fields[.age] = "\(age.wholeSeconds)" }
    fields[.serverTiming] = "store;dur=\(Self.milliseconds(read.time))"
    switch request.preconditions.judge(isRead: true, tag: EntityTag(read.tag)) {
    case .notModified:
      return ServerResponse(status: .notModified, fields: fields, isCompressible: true)
    case .failed:
      return .failure(
        Failure(
          .preconditionFailed, "A precondition failed: the stored version has another entity tag."),
        request: request)
    case .proceed:
      return ServerResponse(
        contentType: "application/json", bytes: read.body, fields: fields)
    }
  }

  /// A duration in milliseconds, to three decimal places.
  private static func milliseconds(_ time: Duration) -> Double {
    (time / .microseconds(1)).rounded() / 1000
  }

  static func parameters(
    _ request: ServerRequest
  ) throws(Failure) -> [CollectionRequest.Parameter] {
    try request.queryParameters().map { .init($0.name, $0.value) }
  }
}

extension ServerRequest {
  fileprivate var type: String { parameters["type"] ?? "" }
  fileprivate var key: EntityKey { EntityKey(type: type, key: parameters["id"] ?? "") }
}

extension HTTPField.Name {
  static let totalCount = Self("Total-Count")!
}
