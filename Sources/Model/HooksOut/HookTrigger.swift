/// The event that a hook out is called for: `on` of an element of `hooks.out`.
package enum HookTrigger: Hashable, Sendable {
  /// A write to a local type, or an update of the local fields of an upstream type.
  case write(type: String, LocalChange.Operation)
  /// The outcome of a mutation.
  case outcome(operation: String, SettledOutcome.State)
}

extension HookTrigger {
  private static let mutation = "mutation"

  /// Parses `<Type> insert|update|delete` or `mutation <Operation> applied|rejected|parked`.
  package init?(parsing text: String) {
    let words = text.split(separator: " ").map(String.init)
    switch words.count {
    case 2:
      guard let operation = LocalChange.Operation(rawValue: words[1]) else { return nil }
      self = .write(type: words[0], operation)
    case 3:
      guard words[0] == Self.mutation, let state = SettledOutcome.State(rawValue: words[2]) else {
        return nil
      }
      self = .outcome(operation: words[1], state)
    default: return nil
    }
  }

  /// The text that ``init(parsing:)`` reads.
  package var text: String {
    switch self {
    case .write(let type, let operation): "\(type) \(operation.rawValue)"
    case .outcome(let operation, let state): "\(Self.mutation) \(operation) \(state.rawValue)"
    }
  }
}

/// The hooks that are called after writes and outcomes, by what they are called for. The store writes
/// their events in the transaction of the write.
package struct HookSubscriptions: Sendable {
  package static let none = HookSubscriptions(names: [:])

  /// The names of the hooks of each trigger.
  private let names: [HookTrigger: [String]]
  /// The local types, and the upstream types with local fields, that any hook is called for.
  package let types: Set<String>

  package init(names: [HookTrigger: [String]]) {
    self.names = names
    types = Set(
      names.keys.compactMap { trigger in
        if case .write(let type, _) = trigger { type } else { nil }
      })
  }

  package var isEmpty: Bool { names.isEmpty }

  /// Returns the names of the hooks that are called for a trigger.
  package func hooks(for trigger: HookTrigger) -> [String] { names[trigger] ?? [] }
}
