import Filtering
import Gateway
import HTTPServer
import HTTPWire
import Model

/// The query parameters of `/v1/changes`. All faults are reported at once.
struct ChangesQuery {
  static let limitDefault = 100
  static let limitMax = 1000
  /// The longest `wait`. Proxies time out requests that are silent for longer.
  static let waitSecondsMax = 60.0
  private static let argumentPrefix = "arg."
  /// Parameters that can be given only once, because one of two would be ignored silently.
  private static let single: Set = ["since", "limit", "wait", "filter", "on"]

  var since = ChangeFeed.Since.snapshot
  private(set) var limit = limitDefault
  private(set) var wait = Duration.zero
  private(set) var filter = ChangeFilter.all

  private let possibleTypes: [String: [String]]
  private var faults: [Failure.Detail] = []
  private var types: Set<String>?
  private var operations = Set(ChangeFilter.Operation.allCases)
  private var condition: String?
  private var arguments = FilterArguments.none

  /// Reads the parameters of a request for the changes of a feed.
  init(_ parameters: [QueryString.Parameter], of feed: ChangeFeed) throws(Failure) {
    try self.init(
      parameters, types: feed.types, possibleTypes: feed.possibleTypes, graph: feed.graph,
      now: feed.now)
  }

  /// - Parameters:
  ///   - types: all entity types.
  ///   - possibleTypes: the types of the entities of each interface and union.
  ///   - graph: the types and relationships that the filter can name.
  ///   - now: the present value of `now()`.
  init(
    _ parameters: [QueryString.Parameter], types: [EntityType],
    possibleTypes: [String: [String]] = [:], graph: EntityGraph = .none, now: Timestamp
  ) throws(Failure) {
    self.possibleTypes = possibleTypes
    let names = Set(types.map(\.name))
    var seen: Set<String> = []
    for parameter in parameters {
      if Self.single.contains(parameter.name), !seen.insert(parameter.name).inserted {
        note(parameter.name, "is given twice")
        continue
      }
      if let fault = read(parameter, names) { note(parameter.name, fault) }
    }
    let condition = readCondition(types, graph, now)
    guard faults.isEmpty else {
      throw Failure(
        .malformedRequest, "Invalid query parameters (\(faults.count)).", details: faults)
    }
    filter = ChangeFilter(types: self.types, operations: operations, condition: condition)
  }

  private mutating func note(_ parameter: String, _ detail: String) {
    faults.append(Failure.Detail(place: .parameter(parameter), detail: detail))
  }

  /// Reads one parameter.
  ///
  /// - Returns: its fault; nil if it is valid.
  private mutating func read(
    _ parameter: QueryString.Parameter, _ known: Set<String>
  ) -> String? {
    let value = parameter.value
    switch parameter.name {
    case "since": since = value == "now" ? .head : value.isEmpty ? .snapshot : .cursor(value)
    case "limit":
      guard let number = Int(value), (1...Self.limitMax).contains(number) else {
        return "must be a number from 1 to \(Self.limitMax)"
      }
      limit = number
    case "wait":
      // Checked as a number, because making a `Duration` traps on overflow.
      guard let number = Double(value), (0...Self.waitSecondsMax).contains(number) else {
        return "must be a number of seconds from 0 to \(Int(Self.waitSecondsMax))"
      }
      wait = .seconds(number)
    case "types": return readTypes(value, known)
    case "on": return readOperations(value)
    case "filter": condition = value
    case "arg": arguments.positional.append(value)
    case let name where name.hasPrefix(Self.argumentPrefix):
      let name = String(name.dropFirst(Self.argumentPrefix.count))
      guard arguments.named.updateValue(value, forKey: name) == nil else {
        return "is given twice"
      }
    case ServerRequest.ticketName: break
    case let name where Self.ofLists.contains(name): return Self.notOfChanges
    default: return "is not a parameter of this path"
    }
    return nil
  }

  /// Parameters of lists of entities that say how an entity is shown. Changes show each entity whole and by
  /// itself.
  static let ofLists: Set = ["include", "view"]

  /// The fault of ``ofLists``, with what to do instead.
  static let notOfChanges =
    "is not a parameter of changes, which report every entity whole and by itself: name the types of related "
    + "entities in types too, or follow a list with include or view by "
    + "/v1/entities/{Type}/diff or /v1/entities/{Type}/stream"

  private mutating func readTypes(_ value: String, _ known: Set<String>) -> String? {
    let names = Set(value.split(separator: ",").map(String.init))
    types = types ?? []
    if names.isEmpty { return "must name at least one type" }
    var unknown: [String] = []
    for name in names.sorted() {
      // An interface or a union stands for its types.
      let found = known.contains(name) ? [name] : possibleTypes[name] ?? []
      types?.formUnion(found)
      if found.isEmpty { unknown.append(name) }
    }
    return unknown.isEmpty
      ? nil : "has unknown entity types: \(unknown.joined(separator: ", "))"
  }

  private mutating func readOperations(_ value: String) -> String? {
    let names = value.split(separator: ",").map(String.init)
    let known = names.compactMap(ChangeFilter.Operation.init)
    operations = Set(known)
    return known.isEmpty || known.count < names.count
      ? "must be a list of insert, update, delete" : nil
  }

  // MARK: The condition on entities

  private mutating func readCondition(
    _ known: [EntityType], _ graph: EntityGraph, _ now: Timestamp
  ) -> ChangeCondition? {
    guard let condition else {
      if arguments != .none { note("filter", "is required if arguments are given") }
      return nil
    }
    guard let types else {
      note("types", "is required with a filter; name types that have all of its columns")
      return nil
    }
    var found: [(String, String)] = []
    let selected = known.filter { types.contains($0.name) }
    let read = ChangeCondition(
      condition, arguments: arguments, types: selected, graph: graph, now: now
    ) {
      found.append(($0, $1))
    }
    for (parameter, detail) in found { note(parameter, detail) }
    return read
  }
}
