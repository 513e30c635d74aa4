import Gateway
import HTTPServer
import HTTPWire
import LosslessJSON
import Model
import SyncScheduler

/// `/v1/queue`: a device's queue as a whole, and `/v1/admin/queues`: all queues, for operators.
struct QueueEndpoint: Sendable {
  let context: EndpointContext
  let queue: SyncQueue

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      return .json(try await queue.status(by: caller).json.bytes)
    }
  }

  func perform(_ request: ServerRequest, _ command: QueueCommand) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      // The body is not used; reading it refuses other media types, and so a post without a preflight.
      _ = try await context.json(of: request)
      _ = try await queue.perform(command, by: caller)
      return .json(try await queue.status(by: caller).json.bytes)
    }
  }

  // MARK: Operators

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let after = try request.queryParameters().first { $0.name == "after" }?.value
      let queues = try await queue.queues(after: after ?? "")
      let items = queues.map(\.json)
      var members = [JSONMember("items", .array(items))]
      if queues.count == SyncQueue.pageMax, let last = queues.last {
        members.append(JSONMember("next", .string(last.device)))
      }
      return .json(JSONValue.object(members).bytes)
    }
  }

  func showMutations(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      return .json(try await queue.mutations(of: request.parameters["device"] ?? ""))
    }
  }

  func operate(
    _ request: ServerRequest, _ command: (MutationID) -> QueueCommand
  ) async -> ServerResponse {
    let command = command(MutationID(request.parameters["id"] ?? ""))
    return await context.respond(to: request) { () async throws(Failure) in
      _ = try await context.json(of: request)
      let device = request.parameters["device"] ?? ""
      let body = try await queue.perform(command, on: device)
      if let body { return .json(body) }
      return .json(try await queue.status(of: device).json.bytes)
    }
  }
}
