package import Filtering
package import Model
import Storage

/// The changes that a client requests.
///
/// A cursor carries the filter's digest: continuing with another filter would omit changes that the
/// first one skipped.
package struct ChangeFilter: Hashable, Sendable {
  package enum Operation: String, Hashable, Sendable, CaseIterable {
    case insert, update, delete
  }

  /// Names of entity types; nil for all.
  package let types: Set<String>?
  package let operations: Set<Operation>
  /// Nil if every entity of the types is requested.
  package let condition: ChangeCondition?

  package init(
    types: Set<String>? = nil, operations: Set<Operation> = Set(Operation.allCases),
    condition: ChangeCondition? = nil
  ) {
    self.types = types
    self.operations = operations
    self.condition = condition
  }

  package static let all = ChangeFilter()

  /// Whether the passing of time alone makes entities enter or leave it.
  var usesNow: Bool { condition?.usesNow == true }

  /// A digest that is the same for the same filter on every node and after every restart; never 0.
  package var digest: UInt64 {
    // FNV-1a: the cursor's own MAC is what keeps a client from choosing it.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in canonicalText.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash == 0 ? 1 : hash
  }

  private var canonicalText: String {
    let types = types.map { $0.sorted().joined(separator: ",") } ?? "*"
    let operations = operations.map(\.rawValue).sorted().joined(separator: ",")
    let condition = condition.map { ";filter=\($0.text)" } ?? ""
    return "types=\(types);on=\(operations)\(condition)"
  }
}

/// The condition that entities must meet for an observer to see them: a collection filter, parsed
/// for each of the requested types.
///
/// An entity that begins to meet the condition is reported as new, one that ceases to as deleted, also if
/// not the entity changed but one that the condition's key paths lead to.
///
/// With `now()` it is another condition at each time, see ``FilterClock``.
package struct ChangeCondition: Sendable {
  /// The filter and its arguments as the client wrote them, as one string.
  let text: String
  /// By type, at the time of the request.
  let observed: [String: ObservedCondition]
  /// The types of all related entities that it is evaluated on.
  let reachedTypes: Set<String>
  /// Whether the passing of time alone makes entities meet it or not.
  package let usesNow: Bool
  private let source: Source

  /// What it is parsed from.
  private struct Source: Sendable {
    let filter: String
    let arguments: FilterArguments
    let types: [EntityType]
    let graph: EntityGraph

    func observed(at now: Timestamp) throws(FilterFaults) -> [String: ObservedCondition] {
      var observed: [String: ObservedCondition] = [:]
      var faults: [FilterFault] = []
      for type in types {
        do throws(FilterFaults) {
          let filter = try Filter(
            filter, arguments: arguments, type: type, graph: graph, now: now)
          observed[type.name] = ObservedCondition(type: type, filter: filter)
        } catch {
          for fault in error.all where !faults.contains(fault) { faults.append(fault) }
        }
      }
      guard faults.isEmpty else { throw FilterFaults(all: faults) }
      return observed
    }
  }

  /// - Parameters:
  ///   - types: the requested types; each must have all columns that the filter names.
  ///   - graph: the types that key paths can lead to.
  ///   - now: the present time.
  ///   - note: called once for each faulty parameter.
  /// - Returns: nil if there are faults.
  package init?(
    _ filter: String, arguments: FilterArguments, types: [EntityType], graph: EntityGraph,
    now: Timestamp, note: (_ parameter: String, _ detail: String) -> Void
  ) {
    source = Source(filter: filter, arguments: arguments, types: types, graph: graph)
    var observed: [String: ObservedCondition] = [:]
    var faults: [FilterFault] = []
    do throws(FilterFaults) {
      observed = try source.observed(at: now)
    } catch {
      faults = error.all
    }
    for fault in faults {
      switch fault.place {
      case .position(let position): note("filter", "position \(position): \(fault.message)")
      case .argument(let name): note(name, fault.message)
      }
    }
    guard faults.isEmpty else { return nil }
    guard !observed.values.contains(where: \.filter.namesNowAsPattern) else {
      note(
        "filter",
        "now() cannot be what a text must be like or contain: compare the field with it by <, >, = or "
          + "BETWEEN")
      return nil
    }
    self.observed = observed
    usesNow = observed.values.contains(where: \.filter.namesNow)
    let named = arguments.named.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    reachedTypes = observed.values.reduce(into: []) { $0.formUnion($1.filter.reachedTypes) }
    text = ([filter] + named + arguments.positional).map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// Returns the conditions by type, with `now()` at a time.
  func observed(at time: Timestamp) throws(Failure) -> [String: ObservedCondition] {
    guard usesNow else { return observed }
    do throws(FilterFaults) {
      return try source.observed(at: time)
    } catch {
      throw Failure(
        .malformedRequest, "The filter cannot be evaluated at this time.",
        cause: error.all.map(\.message).joined(separator: "; "))
    }
  }
}

/// The text means the same for the same types.
extension ChangeCondition: Hashable {
  package static func == (left: ChangeCondition, right: ChangeCondition) -> Bool {
    left.text.equalsExactly(right.text) && left.observed.keys == right.observed.keys
  }

  package func hash(into hasher: inout Hasher) {
    text.hashExactly(into: &hasher)
    hasher.combine(Set(observed.keys))
  }
}
