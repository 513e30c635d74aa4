import Gateway
import HTTPServer
import LosslessJSON
import Model

/// `GET /v1/admin/upstreams`: the state of each upstream; requires the admin token.
struct UpstreamsEndpoint: Sendable {
  let context: EndpointContext
  let overview: UpstreamOverview

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let body: JSONValue = ["items": .array(overview.statuses.map(Self.value))]
      return .json(body.bytes)
    }
  }

  static func value(_ status: UpstreamStatus) -> JSONValue {
    var value: JSONValue = ["name": .string(status.name.text)]
    if let origin = status.origin { value["origin"] = .string(origin) }
    if let isReachable = status.isReachable { value["reachable"] = .bool(isReachable) }
    if let outage = status.outage {
      value["outage"] = [
        "seconds": count(outage.duration.wholeSeconds), "failedCalls": count(outage.failures),
      ]
    }
    if let breaker = status.breaker {
      value["breaker"] = [
        "state": .string(breaker.state),
        "operations": .array(breaker.operations.map { .string($0) }),
      ]
    }
    var refusals: JSONValue = ["calls": count(status.refusals.count)]
    if let live = status.live { refusals["subscriptions"] = count(live.refusals) }
    if let age = status.refusals.age { refusals["lastCallSeconds"] = count(age.wholeSeconds) }
    value["credentialsRefused"] = refusals
    if let refused = status.serviceRefusal {
      value["serviceCredential"] = [
        "accepted": .bool(false), "seconds": count(refused.duration.wholeSeconds),
        "refusedCalls": count(refused.count), "reason": .string(refused.reason),
        "settings": .array(refused.settings.map { .string($0) }),
      ]
    }
    if let live = status.live {
      value["live"] = [
        "connections": count(live.connections), "reconnects": count(live.reconnects),
        "gaps": count(live.gaps),
      ]
    }
    return value
  }

  private static func count(_ number: some FixedWidthInteger) -> JSONValue {
    .number(JSONNumber(number))
  }
}
