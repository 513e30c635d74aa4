import Gateway
import HTTPServer
import HTTPWire
import Model

/// The parameters of `/v1/changes`, all their faults found at once.
struct ChangesQuery {
  static let limitDefault = 100
  static let limitMax = 1000
  /// What proxies let a request stay silent for.
  static let waitSecondsMax = 60.0

  var since = ChangeFeed.Since.snapshot
  private(set) var limit = limitDefault
  private(set) var wait = Duration.zero
  private(set) var filter = ChangeFilter.all

  /// - Parameter types: the names of the types there are.
  init(_ request: ServerRequest, types: Set<String>) throws(Failure) {
    var faults: [Failure.Detail] = []
    var wanted: Set<String>?
    var operations = Set(ChangeFilter.Operation.allCases)
    for parameter in try request.queryParameters() {
      let value = parameter.value
      var fault: String?
      switch parameter.name {
      case "since": since = value == "now" ? .head : value.isEmpty ? .snapshot : .cursor(value)
      case "limit":
        let number = Int(value).flatMap { (1...Self.limitMax).contains($0) ? $0 : nil }
        limit = number ?? limit
        if number == nil { fault = "is a number from 1 to \(Self.limitMax)" }
      case "wait":
        let number = Double(value).flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
        // Bounded as a number: a `Duration` traps where it cannot hold one.
        wait = .seconds(min(number ?? 0, Self.waitSecondsMax))
        if number == nil { fault = "is a number of seconds" }
      case "types":
        let names = Set(value.split(separator: ",").map(String.init))
        let unknown = names.subtracting(types).sorted()
        wanted = (wanted ?? []).union(names)
        if names.isEmpty { fault = "names no type" }
        if !unknown.isEmpty {
          fault = "names no type of entities: \(unknown.joined(separator: ", "))"
        }
      case "on":
        let names = value.split(separator: ",").map(String.init)
        let known = names.compactMap(ChangeFilter.Operation.init)
        operations = Set(known)
        if known.isEmpty || known.count < names.count {
          fault = "is a list of insert, update, delete"
        }
      case "ticket": break
      default: fault = "is not a parameter of this path"
      }
      if let fault { faults.append(.init(place: .parameter(parameter.name), detail: fault)) }
    }
    guard faults.isEmpty else {
      throw Failure(
        .malformedRequest, "\(faults.count) of the parameters cannot be used.", details: faults)
    }
    filter = ChangeFilter(types: wanted, operations: operations)
  }
}
