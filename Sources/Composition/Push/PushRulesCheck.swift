import Gateway
import GraphQL
import Model
import Upstream

/// The rules in settings, held against the types and fields there are. A field that nobody selects is
/// told and not passed over: whoever named it counts on it.
struct PushRulesCheck {
  let rules: [PushRuleSettings]
  /// With the local types in it.
  let catalogue: EntityCatalogue

  var faults: [SettingsFault] {
    rules.flatMap { settings in
      faults(of: settings.rule).map { SettingsFault(settings.place, "`push.rules`: \($0)") }
    }
  }

  private func faults(of rule: PushRule) -> [String] {
    guard catalogue.type(named: rule.type) != nil, let shape = catalogue.shapes[rule.type] else {
      return [
        "no operation reaches a type \(rule.type)."
          + NearestNames.didYouMean(rule.type, among: catalogue.types.map(\.name))
      ]
    }
    var faults = fault(rule.recipients, of: shape, takesLists: true)
    if let chat = rule.chat { faults += fault(chat, of: shape, takesLists: false) }
    for name in rule.text.fields + (rule.heading?.fields ?? []) {
      faults += fault(name, of: shape, takesLists: false)
    }
    return faults
  }

  private func fault(_ name: String, of shape: ObjectShape, takesLists: Bool) -> [String] {
    guard let field = shape.fields[name] else {
      return [
        "nothing selects \(name) of \(shape.type)."
          + NearestNames.didYouMean(name, among: shape.fields.keys)
      ]
    }
    if field.listDepth > (takesLists ? 1 : 0) { return ["\(name) of \(shape.type) is a list"] }
    switch field.value {
    case .leaf, .date, .object(_, _, holdsEntities: true): return []
    case .object: return ["\(name) of \(shape.type) is an object without an id"]
    }
  }
}
