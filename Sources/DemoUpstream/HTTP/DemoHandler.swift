import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Transport

/// Answers the demo's few paths.
struct DemoHandler: RequestHandler {
  let engine: DemoEngine
  let book: RequestBook
  /// Notified when the fail mode may have ended: requests held without a response wait for it.
  let releases: AsyncSignal
  /// Called when switches were set over HTTP, because the listener may have to open or close.
  let onSwitch: @Sendable () -> Void

  /// The library is made by the first request, and each runs a whole executor.
  var isQuick: Bool { false }

  func respond(to request: ServerRequest) async -> ServerResponse {
    switch request.path {
    case "/graphql": await graphQL(request)
    case "/__demo": await control(request)
    case "/healthz": DemoResponses.json(["status": "ok"])
    default: DemoResponses.error("There is /graphql, /__demo and /healthz.", status: .notFound)
    }
  }

  // MARK: GraphQL

  private func graphQL(_ request: ServerRequest) async -> ServerResponse {
    guard request.method == .get || request.method == .post else {
      return DemoResponses.methodNotAllowed("GET, POST")
    }
    do throws(RequestReading.Refusal) {
      let call = GraphQLCall(
        request: try await RequestReading.read(request), http: request, engine: engine)
      let seen = releases.count
      let decision = book.begin(call.record)
      defer { book.end() }
      if decision.delay > .zero { try? await Task.sleep(for: decision.delay) }
      return await answer(call, decision.fail, after: seen)
    } catch {
      return DemoResponses.refusal(error)
    }
  }

  /// - Parameter seen: the releases before the decision to fail the request.
  private func answer(
    _ call: GraphQLCall, _ fail: FailMode, after seen: UInt64
  ) async -> ServerResponse {
    let switches = book.switches
    let mediaType = call.mediaType
    let isExecuted =
      switches.takesEffect || [.off, .refuse, .partial, .halfBody].contains(fail)
    let result = isExecuted ? execute(call, fail == .partial ? switches.partialFields : []) : nil
    switch fail {
    case .hang:
      await releases.wait(after: seen)
      return FaultyResponses.status(503)
    case .status(let status): return FaultyResponses.status(status)
    case .html: return FaultyResponses.html()
    case .oversize: return FaultyResponses.oversize(switches.oversizeBytes, mediaType)
    case .graphQLErrors: return FaultyResponses.graphQLErrors(mediaType)
    case .brokenJSON:
      return FaultyResponses.brokenJSON(
        result?.bytes ?? Array(#"{"data":{"film":{"id""#.utf8), mediaType)
    case .halfBody: return FaultyResponses.halfBody(result?.bytes ?? [], mediaType)
    case .off, .refuse, .partial:
      return result.map { DemoResponses.graphQL($0, mediaType) } ?? FaultyResponses.status(503)
    }
  }

  private func execute(_ call: GraphQLCall, _ brokenFields: Set<String>) -> DemoResponse {
    let response = call.answer(by: engine, brokenFields: brokenFields)
    if response.outcome == .executed {
      book.noteExecuted(call.record.operationName, isReplay: response.isReplay)
    }
    return response
  }

  // MARK: Control

  /// `GET` shows switches and counters. `POST` takes a JSON object of switches, and beside them
  /// `reset`: `counters` or `data`.
  private func control(_ request: ServerRequest) async -> ServerResponse {
    guard request.method == .get || request.method == .post else {
      return DemoResponses.methodNotAllowed("GET, POST")
    }
    if request.method == .get { return DemoResponses.json(state) }
    do throws(RequestReading.Refusal) {
      guard var members = try await RequestReading.json(request).members else {
        throw .malformed("Send an object of switches.")
      }
      try reset(members.first { $0.name == "reset" }?.value)
      members.removeAll { $0.name == "reset" }
      if !members.isEmpty { try apply(members) }
      return DemoResponses.json(state)
    } catch {
      return DemoResponses.refusal(error)
    }
  }

  private var state: JSONValue {
    .object([JSONMember("switches", book.switches.json)] + (book.report.json.members ?? []))
  }

  private func reset(_ what: JSONValue?) throws(RequestReading.Refusal) {
    switch what {
    case nil: break
    case "counters"?: book.resetReport()
    case "data"?: engine.reset()
    default: throw .malformed("Reset counters or data.")
    }
  }

  private func apply(_ members: [JSONMember]) throws(RequestReading.Refusal) {
    var switches = book.switches
    do throws(DemoSwitches.BadMember) {
      try switches.apply(members)
    } catch {
      throw .malformed("\(error.name) is no switch, or its value is none.")
    }
    book.switches = switches
    releases.notify()
    onSwitch()
  }
}
