package import Model
import Storage

/// What must hold of entities for an observer to be told of them: a filter as collections take it,
/// read against each of the types that are asked for.
///
/// An entity that comes into the condition is told as new, and one that leaves it as gone.
package struct ChangeCondition: Hashable, Sendable {
  /// The filter and its arguments as the client wrote them, in one text.
  let text: String
  /// By type.
  let observed: [String: ObservedCondition]

  /// - Parameters:
  ///   - types: whose entities are asked for; each must have all columns that the filter names.
  ///   - note: is told of each faulty parameter, once.
  /// - Returns: nil where there are faults.
  package init?(
    _ filter: String, arguments: FilterArguments, types: [EntityType],
    note: (_ parameter: String, _ detail: String) -> Void
  ) {
    var observed: [String: ObservedCondition] = [:]
    var faults: [FilterFault] = []
    for type in types {
      do throws(FilterFaults) {
        let filter = try Filter(filter, arguments: arguments, type: type)
        observed[type.name] = ObservedCondition(type: type, filter: filter)
      } catch {
        for fault in error.all where !faults.contains(fault) { faults.append(fault) }
      }
    }
    for fault in faults {
      switch fault.place {
      case .position(let position): note("filter", "position \(position): \(fault.message)")
      case .argument(let name): note(name, fault.message)
      }
    }
    guard faults.isEmpty else { return nil }
    self.observed = observed
    let named = arguments.named.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    text = ([filter] + named + arguments.positional).map { "\($0.utf8.count):\($0)" }.joined()
  }
}
