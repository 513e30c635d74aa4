import GraphQL
import LosslessJSON
package import Model
package import Upstream

/// A rule that does not fit the operations, with all that is wrong with it.
package struct StandingRuleFaults: Error, Hashable, Sendable {
  package struct Fault: Hashable, Sendable {
    /// The member that it is about, such as `catchUp.field`.
    package let setting: String
    /// The same, or a part of it, such as `variables.studio`.
    package let member: String
    /// A sentence without a place.
    package let text: String
  }

  package let all: [Fault]

  /// Each a sentence without a place.
  package var messages: [String] { all.map { "\($0.setting): \($0.text)" } }
}

/// A query with variables, one of which can say where to continue.
struct RepeatedQuery: Sendable {
  /// The variable and the field that it continues by.
  struct Since: Sendable {
    let variable: String
    let field: String
    /// The types that have the field.
    let types: [EntityType]
    /// Whether the query can be sent without a value.
    let isOptional: Bool
  }

  let operation: RegisteredOperation
  /// The variables but the one of ``since``.
  let given: [JSONMember]
  let since: Since?

  /// Returns the variables of one call; nil if the query needs a value and there is none.
  func variables(since value: JSONValue?) -> Variables? {
    var members = given
    if let since {
      if let value {
        members.append(JSONMember(since.variable, value))
      } else if !since.isOptional {
        return nil
      }
    }
    return try? operation.coerce(.value(.object(members)))
  }
}

/// A standing subscription, checked against the operations.
package struct StandingPlan: Sendable {
  package let operation: RegisteredOperation
  package let variables: Variables
  let catchUp: RepeatedQuery?

  /// - Parameter upstream: the upstream whose settings have the rule.
  /// - Throws: all that is wrong with the rule.
  package init(
    _ rule: StandingRule, in registry: OperationRegistry, of upstream: UpstreamName? = nil
  ) throws(StandingRuleFaults) {
    var reader = StandingRuleReader(registry: registry, upstream: upstream)
    guard
      let operation = reader.operation(rule.operation, kind: .subscription, setting: "operation")
    else { throw reader.outcome }
    let variables = reader.variables(rule.variables, of: operation)
    var catchUp: RepeatedQuery?
    if let rule = rule.catchUp,
      let query = reader.operation(rule.operation, kind: .query, setting: "catchUp.operation")
    {
      // The subscription's own variables of the same names.
      let names = Set(query.variables.map(\.name))
      let shared = (variables?.members ?? []).filter {
        names.contains($0.name) && $0.name != rule.variable
      }
      reader.checkRequired(query, given: shared, besides: rule.variable)
      catchUp = reader.query(
        query, given: shared,
        since: PollRule.Since(variable: rule.variable, field: rule.field), setting: "catchUp.")
    }
    guard reader.faults.isEmpty, let variables else { throw reader.outcome }
    self.operation = operation
    self.variables = variables
    self.catchUp = catchUp
  }
}

/// A poll, checked against the operations.
package struct PollPlan: Sendable {
  let query: RepeatedQuery
  let every: Duration

  /// - Parameter upstream: the upstream whose settings have the rule.
  /// - Throws: all that is wrong with the rule.
  package init(
    _ rule: PollRule, in registry: OperationRegistry, of upstream: UpstreamName? = nil
  ) throws(StandingRuleFaults) {
    var reader = StandingRuleReader(registry: registry, upstream: upstream)
    guard let operation = reader.operation(rule.operation, kind: .query, setting: "operation")
    else { throw reader.outcome }
    let given = reader.members(rule.variables, of: operation, without: rule.since?.variable)
    let query = reader.query(operation, given: given ?? [], since: rule.since, setting: "since.")
    guard reader.faults.isEmpty, let query else { throw reader.outcome }
    self.query = query
    every = rule.every
  }
}

/// Checks the parts of rules and collects what is wrong with them.
private struct StandingRuleReader {
  let registry: OperationRegistry
  let upstream: UpstreamName?
  private(set) var faults: [StandingRuleFaults.Fault] = []

  init(registry: OperationRegistry, upstream: UpstreamName?) {
    self.registry = registry
    self.upstream = upstream
  }

  var outcome: StandingRuleFaults { StandingRuleFaults(all: faults) }

  /// - Parameter member: the part of the setting; nil for all of it.
  private mutating func fault(_ setting: String, member: String? = nil, _ text: String) {
    faults.append(
      StandingRuleFaults.Fault(
        setting: setting, member: member.map { "\(setting).\($0)" } ?? setting, text: text))
  }

  mutating func operation(
    _ name: String, kind: OperationKind, setting: String
  ) -> RegisteredOperation? {
    let known = registry.operations.filter { $0.kind == kind }.map(\.name)
    guard let operation = registry.operation(named: name) else {
      fault(
        setting,
        "there is no operation named \(name)." + NearestNames.didYouMean(name, among: known))
      return nil
    }
    guard operation.kind == kind else {
      fault(setting, "\(name) is a \(operation.kind.rawValue), not a \(kind.rawValue).")
      return nil
    }
    if let upstream, operation.upstream != upstream {
      fault(
        setting, "\(name) belongs to the upstream \(operation.upstream); write the rule there.")
    }
    if let claim = operation.claim {
      fault(
        setting,
        "\(name) is shared by the claim \(claim) of callers' tokens; the service has none.")
    }
    return operation
  }

  mutating func variables(
    _ parameters: [VariableInput.Parameter], of operation: RegisteredOperation
  ) -> Variables? {
    coerce(parameters, of: operation)
  }

  /// Reads the variables as a JSON object's members.
  ///
  /// - Parameter missing: a variable that gets its value later.
  mutating func members(
    _ parameters: [VariableInput.Parameter], of operation: RegisteredOperation,
    without missing: String?
  ) -> [JSONMember]? {
    coerce(parameters, of: operation, without: missing)?.members
  }

  private mutating func coerce(
    _ parameters: [VariableInput.Parameter], of operation: RegisteredOperation,
    without missing: String? = nil
  ) -> Variables? {
    do throws(VariableFaults) {
      return try operation.coerce(.parameters(path: [], query: parameters), without: missing)
    } catch {
      for fault in error.all {
        switch fault.place {
        case .parameter(let name):
          self.fault("variables", member: name, Self.sentence("\(name) \(fault.detail)"))
        case .pointer(let pointer):
          self.fault("variables", Self.sentence("\(pointer) \(fault.detail)"))
        }
      }
      return nil
    }
  }

  /// The text with a full stop, unless it ends a sentence already.
  private static func sentence(_ text: String) -> String {
    text.hasSuffix("?") || text.hasSuffix(".") ? text : text + "."
  }

  /// Reports variables of a catch-up that nothing gives.
  mutating func checkRequired(
    _ operation: RegisteredOperation, given: [JSONMember], besides other: String
  ) {
    let names = Set(given.map(\.name)).union([other])
    for variable in operation.variables where variable.isRequired && !names.contains(variable.name)
    {
      fault(
        "catchUp.operation",
        "\(operation.name) requires $\(variable.name), which the subscription does not have.")
    }
  }

  mutating func query(
    _ operation: RegisteredOperation, given: [JSONMember], since: PollRule.Since?, setting: String
  ) -> RepeatedQuery? {
    guard let since else { return RepeatedQuery(operation: operation, given: given, since: nil) }
    let variable = operation.variables.first { $0.name == since.variable }
    if variable == nil {
      fault(
        "\(setting)variable",
        "\(operation.name) has no variable \(since.variable)."
          + NearestNames.didYouMean(since.variable, among: operation.variables.map(\.name)))
    }
    let types = operation.entityTypes.compactMap { registry.catalogue.type(named: $0) }
    let having = types.filter { type in
      type.columns.contains { $0.name == since.field && $0.kind != .reference }
    }
    if having.isEmpty {
      let known = Set(types.flatMap { $0.columns.map(\.name) })
      fault(
        "\(setting)field",
        "no entity in \(operation.name) has the single-valued field \(since.field)."
          + NearestNames.didYouMean(since.field, among: known))
    }
    guard let variable, !having.isEmpty else { return nil }
    let misfits = ContinuationFit(
      setting: setting, operation: operation.name, variable: variable
    ).faults(of: since.field, in: having)
    guard misfits.isEmpty else {
      faults += misfits
      return nil
    }
    return RepeatedQuery(
      operation: operation, given: given,
      since: RepeatedQuery.Since(
        variable: since.variable, field: since.field, types: having,
        isOptional: !variable.isRequired))
  }
}

extension Variables {
  /// The given variables as members of a JSON object.
  fileprivate var members: [JSONMember] { (try? JSONValue(checked: json))?.members ?? [] }
}
