import GraphQL
import LosslessJSON
import Model
import Synchronization

/// The selections of one operation: one plan for each combination of its conditions, made on first
/// use and cached.
final class SelectionPlans: Sendable {
  private let ground: SelectionPlanner.Ground
  /// As rewritten for sending, still with client directives on fields.
  private let operation: OperationDefinition
  /// The variables of `@skip` and `@include`, in alphabetical order.
  private let conditions: [String]
  private let plans = Mutex<[UInt64: PlannedSelection]>([:])

  /// Maximum cached combinations, which is that of eight conditions; beyond it, plans are not
  /// cached.
  private static let plansMax = 256

  init(
    operation: OperationDefinition, fragments: [String], ground: SelectionPlanner.Ground
  ) {
    self.ground = ground
    self.operation = operation
    let sets = fragments.compactMap { ground.fragments[$0]?.selectionSet }
    conditions = ConditionVariables.names(in: [operation.selectionSet] + sets)
  }

  /// The plan that includes every selection of any combination of conditions.
  func everything() -> PlannedSelection {
    var planner = SelectionPlanner(ground: ground) { _ in true }
    return planner.plan(operation)
  }

  /// A plan with the values of the conditions that it is for.
  struct Combination: Sendable {
    let values: [String: Bool]
    let plan: PlannedSelection
  }

  /// The plans of all combinations of the conditions; nil if there are more than `countMax`.
  func combinations(countMax: Int) -> [Combination]? {
    guard conditions.count < Int.bitWidth - 1, 1 << conditions.count <= countMax else { return nil }
    return (0..<(1 << conditions.count)).map { bits in
      let values = Dictionary(
        uniqueKeysWithValues: conditions.enumerated().map { ($1, bits >> $0 & 1 == 1) })
      return Combination(values: values, plan: makePlan { values[$0] == true })
    }
  }

  func selection(for variables: Variables) -> FieldSelection {
    plan(for: variables).selection(variables)
  }

  private func plan(for variables: Variables) -> PlannedSelection {
    var bits: UInt64 = 0
    let holds = { (name: String) in variables.values[name]?.bool == true }
    for (index, name) in conditions.enumerated() where holds(name) {
      guard index < UInt64.bitWidth else { return makePlan(holds) }
      bits |= 1 << UInt64(index)
    }
    let key = bits
    if let known = plans.withLock({ $0[key] }) { return known }
    let plan = makePlan(holds)
    plans.withLock { if $0.count < Self.plansMax { $0[key] = plan } }
    return plan
  }

  /// - Parameter holds: whether a variable is true.
  private func makePlan(_ holds: @escaping (String) -> Bool) -> PlannedSelection {
    var planner = SelectionPlanner(ground: ground) { directives in
      ConditionVariables.includes(directives, holds)
    }
    return planner.plan(operation)
  }
}
