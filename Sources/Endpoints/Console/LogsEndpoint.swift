import Gateway
import HTTPServer
import LosslessJSON
import Model

/// `GET /v1/admin/logs`: the latest lines of the log.
struct LogsEndpoint: Sendable {
  private static let limitMax = 1_000
  private static let limitDefault = 200

  let context: EndpointContext
  let ring: LogRing

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      .json(Self.bytes(ring.page(try Self.question(request))))
    }
  }

  private static func question(_ request: ServerRequest) throws(Failure) -> LogRing.Question {
    let parameters = try ConsoleParameters(
      request, own: ["level", "requestId", "logger"], limits: 1...limitMax, limit: limitDefault)
    var faults: [Failure.Detail] = []
    let after = parameters.after.flatMap(Int64.init)
    if parameters.after != nil, after == nil {
      faults.append(.init(place: .parameter("after"), detail: "must be the id of a line"))
    }
    if let level = parameters["level"], !LogRing.levels.contains(level) {
      let names = LogRing.levels.joined(separator: ", ")
      faults.append(.init(place: .parameter("level"), detail: "must be one of \(names)"))
    }
    guard faults.isEmpty else { throw ConsoleParameters.invalid(faults) }
    return LogRing.Question(
      after: after, level: parameters["level"], requestID: parameters["requestId"],
      logger: parameters["logger"], limit: parameters.limit)
  }

  private static func bytes(_ page: LogRing.Page) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for line in page.lines {
      writer.beginObject()
      writer.name("id")
      writer.int(line.id)
      for (name, text) in [
        ("time", line.time), ("level", line.level), ("logger", line.logger),
        ("message", line.message),
      ] { writer.member(name, text) }
      writer.name("fields")
      writer.beginObject()
      for field in line.fields { writer.member(field.name, field.value) }
      writer.endObject()
      writer.endObject()
    }
    writer.endArray()
    writer.name("next")
    writer.int(page.next)
    writer.name("oldest")
    writer.int(page.oldest)
    writer.endObject()
    return writer.bytes
  }
}
