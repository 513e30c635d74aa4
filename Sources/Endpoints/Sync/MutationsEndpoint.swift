import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model
import SyncScheduler

/// `/v1/mutations`: enqueues mutations, and shows, cancels and retries them.
struct MutationsEndpoint: Sendable {
  /// The longest `wait`. Proxies time out requests that are silent for longer.
  private static let waitSecondsMax = 60.0
  private static let limitDefault = 50

  let context: EndpointContext
  let queue: SyncQueue

  func post(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let key = try IdempotencyKey.read(request.field("idempotency-key"))
      switch try MutationRequest.read(try await context.json(of: request)) {
      case .one(let mutation) where mutation.mode == .force:
        let forced = try await queue.force(mutation, key: key, by: caller)
        return Self.response(forced.body, isReplay: forced.isReplay, status: .ok)
      case .one(let mutation):
        let receipts = try await queue.enqueue([(mutation, key)], by: caller)
        guard let receipt = receipts.first else {
          throw Failure(.internal, "Enqueueing a mutation returned no receipt.")
        }
        var response = Self.response(
          receipt.body, isReplay: receipt.isReplay, status: .accepted)
        response.fields[.location] = "/v1/mutations/\(receipt.id.value)"
        return response
      case .several(let mutations):
        let keyed = mutations.enumerated().map { (request: $1, key: "\(key)#\($0)") }
        let receipts = try await queue.enqueue(keyed, by: caller)
        var writer = JSONWriter()
        writer.beginArray()
        for receipt in receipts { writer.raw(receipt.body) }
        writer.endArray()
        return Self.response(
          writer.bytes, isReplay: receipts.allSatisfy(\.isReplay), status: .accepted)
      }
    }
  }

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      var states: [MutationState]?
      var after: String?
      var limit = Self.limitDefault
      var faults: [Failure.Detail] = []
      for parameter in try request.queryParameters() {
        let value = parameter.value
        switch parameter.name {
        case "state":
          let names = value.split(separator: ",").map(String.init)
          let known = names.compactMap(MutationState.init)
          states = (states ?? []) + known
          if known.isEmpty || known.count < names.count {
            let all = MutationState.allCases.map(\.rawValue).joined(separator: ", ")
            faults.append(Self.fault("state", "must be a list of \(all)"))
          }
        case "after": after = value
        case "limit":
          let number = Int(value).flatMap { (1...SyncQueue.pageMax).contains($0) ? $0 : nil }
          limit = number ?? limit
          if number == nil {
            faults.append(Self.fault("limit", "must be a number from 1 to \(SyncQueue.pageMax)"))
          }
        default: faults.append(Self.fault(parameter.name, "is not a parameter of this path"))
        }
      }
      try Self.refuse(faults)
      return .json(
        try await queue.mutations(states: states, after: after, limit: limit, by: caller))
    }
  }

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      var wait = Duration.zero
      var faults: [Failure.Detail] = []
      for parameter in try request.queryParameters() {
        guard parameter.name == "wait" else {
          faults.append(Self.fault(parameter.name, "is not a parameter of this path"))
          continue
        }
        guard let number = Double(parameter.value), (0...Self.waitSecondsMax).contains(number)
        else {
          faults.append(
            Self.fault("wait", "must be a number of seconds from 0 to \(Int(Self.waitSecondsMax))"))
          continue
        }
        wait = .seconds(number)
      }
      try Self.refuse(faults)
      return .json(try await queue.mutation(Self.id(of: request), wait: wait, by: caller))
    }
  }

  /// Runs a command on the mutation that the path names.
  func perform(
    _ request: ServerRequest, _ command: (MutationID) -> QueueCommand
  ) async -> ServerResponse {
    let command = command(MutationID(Self.id(of: request)))
    return await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      // The body is not used; reading it refuses other media types, and so a post without a preflight.
      _ = try await context.json(of: request)
      let body = try await queue.perform(command, by: caller)
      return .json(body ?? Array("{}".utf8))
    }
  }

  private static func response(
    _ body: [UInt8], isReplay: Bool, status: HTTPResponse.Status
  ) -> ServerResponse {
    var response = ServerResponse.json(body, status: status)
    if isReplay { response.fields[.idempotencyReplayed] = "true" }
    return response
  }

  private static func id(of request: ServerRequest) -> String { request.parameters["id"] ?? "" }

  private static func fault(_ parameter: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .parameter(parameter), detail: detail)
  }

  private static func refuse(_ faults: [Failure.Detail]) throws(Failure) {
    guard faults.isEmpty else {
      throw Failure(
        .malformedRequest, "Invalid query parameters (\(faults.count)).", details: faults)
    }
  }
}

extension HTTPField.Name {
  static let idempotencyReplayed = Self("Idempotency-Replayed")!
}
