import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `POST /v1/live`: one event stream for many subjects; `PATCH /v1/live/{streamId}` changes them.
struct LiveEndpoint: Sendable {
  let context: EndpointContext
  let streams: LiveStreams
  let sources: LiveSources

  func open(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let subjects = try LiveDocument(
        sources: sources, requestID: request.id, network: request.network
      ).opening(try await context.json(of: request))
      let start = try streams.start(
        subjects, by: caller, from: request.network,
        lastEventID: request.field("last-event-id"))
      let requestID = request.id
      var response = ServerResponse.eventStream(stallMax: context.streamStallMax) {
        [streams, context] in
        streams.open(start) { failure in
          context.note(failure, requestID: requestID)
          return ProblemDocument(failure, instance: nil, requestID: requestID).bytes()
        }
      }
      response.fields[.liveStreamID] = start.id
      return response
    }
  }

  func change(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let change = try LiveDocument(
        sources: sources, requestID: request.id, network: request.network
      ).change(try await context.json(of: request))
      let id = request.parameters["streamId"] ?? ""
      let subjects = try streams.change(id, add: change.added, remove: change.removed, by: caller)
      let body: JSONValue = [
        "streamId": .string(id), "subjects": .array(subjects.map { .string($0) }),
      ]
      return .json(body.bytes)
    }
  }
}

extension HTTPField.Name {
  static let liveStreamID = Self("Live-Stream-Id")!
}
