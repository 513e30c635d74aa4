import Model
import Upstream

/// Whether a query can continue by a field: what is stored of it must have an order, and be a value of the
/// variable that it is sent in.
struct ContinuationFit {
  /// The setting that has the rule, to begin a fault with: `since.` or `catchUp.`.
  let setting: String
  let operation: String
  let variable: OperationVariable

  /// Returns what does not fit; empty if everything does.
  func faults(of field: String, in types: [EntityType]) -> [StandingRuleFaults.Fault] {
    types.compactMap { type -> StandingRuleFaults.Fault? in
      guard let kind = type.columns.first(where: { $0.name == field })?.kind else { return nil }
      if kind == .boolean {
        return fault(
          "field",
          "\(type.name).\(field) is \(kind.phrase), which has no order to continue by; name a field "
            + "that grows with each change.")
      }
      guard !kind.fits(variable.type) else { return nil }
      return fault(
        "variable",
        "\(operation) takes $\(variable.name) as \(variable.typeText), and \(type.name).\(field) is "
          + "stored as \(kind.phrase).")
    }
  }

  private func fault(_ member: String, _ text: String) -> StandingRuleFaults.Fault {
    StandingRuleFaults.Fault(setting: setting + member, member: setting + member, text: text)
  }
}

extension EntityType.Column.Kind {
  /// Completes "is stored as …".
  fileprivate var phrase: String {
    switch self {
    case .integer: "an integer"
    case .real: "a floating-point number"
    case .boolean: "true or false"
    case .text: "text"
    case .reference: "a reference"
    }
  }

  /// Whether all stored values of the kind can be values of an input type. A custom scalar takes what
  /// upstream makes of it; a list takes a single value as its only element (GraphQL, October 2021,
  /// section 3.11).
  fileprivate func fits(_ type: InputType) -> Bool {
    switch type {
    case .nonNull(let inner): fits(inner)
    case .list(let item): fits(item)
    case .int: self == .integer
    case .float: self == .integer || self == .real
    case .id: self == .integer || self == .text
    case .string, .enumeration: self == .text
    case .scalar(_, number: .integer): self == .integer || self == .text
    case .scalar: self == .integer || self == .real || self == .text
    case .boolean, .object: false
    }
  }
}
