import LosslessJSON

extension DemoReport {
  /// Values of these fields are not shown: the demo may stand behind a gateway with real tokens.
  private static let secretFields: Set<String> = ["authorization", "cookie"]

  /// The members of `GET /__demo` beside the switches.
  var json: JSONValue {
    let named = operations.sorted { $0.key < $1.key }
    return [
      "requests": .number(JSONNumber(requests)),
      "inFlight": .number(JSONNumber(inFlight)),
      "concurrencyMax": .number(JSONNumber(concurrencyMax)),
      "operations": .object(named.map { JSONMember($0.key, $0.value.json) }),
      "recent": .array(recent.map(Self.json)),
    ]
  }

  private static func json(_ request: RecordedRequest) -> JSONValue {
    let fields = request.fields.map { field in
      JSONMember(field.name, .string(secretFields.contains(field.name) ? "…" : field.value))
    }
    return [
      "operationName": .string(request.operationName), "variables": request.variables,
      "fields": .object(fields),
    ]
  }
}

extension DemoReport.Operation {
  fileprivate var json: JSONValue {
    [
      "requests": .number(JSONNumber(requests)), "failed": .number(JSONNumber(failed)),
      "executed": .number(JSONNumber(executed)), "replayed": .number(JSONNumber(replayed)),
    ]
  }
}
