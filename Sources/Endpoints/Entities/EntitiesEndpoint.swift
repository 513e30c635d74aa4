import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// `GET` and `HEAD` below `/v1/entities`: what is stored, as REST.
///
/// The id of an entity with several key fields is each value in declared order behind its length in
/// UTF-8 bytes and a colon, `2:de4:1990`: the same text that relationships and changes name it by.
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

  func relationship(_ request: ServerRequest) async -> ServerResponse {
    await respond(request) { caller async throws(Failure) in
      try await entities.relationship(
        request.parameters["relationship"] ?? "", of: request.key,
        parameters: try Self.parameters(request), wantsTotal: request.method == .head,
        caller: caller)
    }
  }

  func search(_ request: ServerRequest) async -> ServerResponse {
    await respond(request) { caller async throws(Failure) in
      try await entities.search(try Self.parameters(request), caller: caller)
    }
  }

  // MARK: Answers

  private func respond(
    _ request: ServerRequest,
    _ read: (Caller) async throws(Failure) -> EntityReader.Answer
  ) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      // Noted before the read, so that the cursor is never ahead of the data.
      let head = cursors.head
      let answer = try await entities.timed { () async throws(Failure) in
        try await read(caller)
      }
      return response(to: request, answer, caller: caller, head: head)
    }
  }

  private func response(
    to request: ServerRequest, _ answer: EntityReader.Answer, caller: Caller, head: Revision
  ) -> ServerResponse {
    let isPrivate = caller.isKnown || caller.device != nil
    var fields: HTTPFields = [
      .eTag: EntityTag(answer.tag).text,
      .cacheControl: "\(isPrivate ? "private" : "public"), no-cache",
      .vary: ReadFields.vary(context.callers.forwardedNames),
      .syncCursor: String(
        decoding: cursors.cursor(for: caller.viewer, at: head), as: UTF8.self),
    ]
    if let total = answer.total { fields[.totalCount] = "\(total)" }
    if let age = answer.age { fields[.age] = "\(age.wholeSeconds)" }
    fields[.serverTiming] = "store;dur=\(Self.milliseconds(answer.time))"
    switch request.preconditions.judge(isRead: true, tag: EntityTag(answer.tag)) {
    case .notModified:
      return ServerResponse(status: .notModified, fields: fields, isCompressible: true)
    case .failed:
      return .failure(
        Failure(.preconditionFailed, "What is stored has another entity tag."), request: request)
    case .proceed:
      return ServerResponse(
        contentType: "application/json", bytes: answer.body, fields: fields)
    }
  }

  /// With their thousandths.
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
