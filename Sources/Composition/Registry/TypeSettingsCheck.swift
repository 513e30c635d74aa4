import Filtering
import Gateway
import GraphQL
import Model
import Upstream

/// The check of `types` in settings against the known types. A field that cannot be searched or
/// indexed is a fault: the operator relies on it.
struct TypeSettingsCheck {
  let loaded: LoadedSettings
  /// The catalogue including the local types.
  let catalogue: EntityCatalogue
  let local: LocalSchema
  private(set) var faults: [SettingsFault] = []
  private(set) var warnings: [Finding] = []
  /// The indexes of all entries without a fault.
  private(set) var indexes: IndexPlan

  init(
    loaded: LoadedSettings, catalogue: EntityCatalogue, local: LocalSchema,
    links: [EntityLink] = []
  ) {
    indexes = IndexPlan(EntityGraph(catalogue, links: links))
    self.loaded = loaded
    self.catalogue = catalogue
    self.local = local
  }

  mutating func run() {
    for (name, settings) in loaded.settings.types.sorted(by: { $0.key < $1.key }) {
      guard let type = catalogue.type(named: name) else {
        warnOfUnknownType(name, settings)
        continue
      }
      for field in settings.index { checkIndex(field, of: type) }
      for field in settings.search { checkSearch(field, of: type) }
      if settings.dates != nil, local.types[name] == nil {
        fault(
          "dates", of: name,
          "\(name) is a type of upstream; only dates of local types have a format")
      }
      if settings.keepLocal != nil, type.localFields.isEmpty {
        fault(
          "keepLocal", of: name,
          "\(name) has no local fields; add some with extend type \(name) in local.graphql")
      }
    }
  }

  private mutating func checkIndex(_ field: String, of type: EntityType) {
    guard IndexDeclaration(field)?.names == [field],
      !type.columns.contains(where: { $0.name == field })
    else {
      if let message = indexes.add(field, of: type) { fault("index", of: type.name, message) }
      return
    }
    fault("index", of: type.name, missing(field, of: type, among: type.columns))
  }

  private mutating func checkSearch(_ field: String, of type: EntityType) {
    let texts = type.columns.filter { $0.kind == .text && $0.dates == nil }
    guard !texts.contains(where: { $0.name == field }) else { return }
    guard type.columns.contains(where: { $0.name == field }) else {
      return fault("search", of: type.name, missing(field, of: type, among: texts))
    }
    fault("search", of: type.name, "\(field) is not a text field; only text can be searched")
  }

  private func missing(
    _ field: String, of type: EntityType, among columns: [EntityType.Column]
  ) -> String {
    let message =
      local.types[type.name] == nil
      ? "no operation selects the field \(field) of \(type.name) as a single value"
      : "\(type.name) has no single-valued field \(field)"
    return message + "." + NearestNames.didYouMean(field, among: columns.map(\.name))
  }

  private mutating func fault(_ setting: String, of type: String, _ message: String) {
    let name = "types.\(type).\(setting)"
    faults.append(SettingsFault(loaded.place(of: name), "`\(name)`: \(message)"))
  }

  /// A warning instead of a fault, because the operation that selected the type can come back.
  private mutating func warnOfUnknownType(_ name: String, _ settings: TypeSettings) {
    guard
      !settings.index.isEmpty || !settings.search.isEmpty || settings.dates != nil
        || settings.keepLocal != nil
    else { return }
    warnings.append(
      Finding(
        severity: .warning,
        message: "types.\(name) has no effect: no operation selects a type of this name."
          + NearestNames.didYouMean(name, among: catalogue.types.map(\.name)),
        setting: "types.\(name)"))
  }
}

/// The check of push rules in settings against the known types and fields. A field that no operation
/// selects is a fault: the operator relies on it.
struct PushRulesCheck {
  let rules: [PushRuleSettings]
  /// The catalogue including the local types.
  let catalogue: EntityCatalogue

  var faults: [SettingsFault] {
    rules.flatMap { settings in
      faults(of: settings.rule).map { SettingsFault(settings.place, "`push.rules`: \($0)") }
    }
  }

  private func faults(of rule: PushRule) -> [String] {
    guard catalogue.type(named: rule.type) != nil, let shape = catalogue.shapes[rule.type] else {
      return [
        "no operation selects the type \(rule.type)."
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
        "no operation selects the field \(name) of \(shape.type)."
          + NearestNames.didYouMean(name, among: shape.fields.keys)
      ]
    }
    guard field.listDepth <= (takesLists ? 1 : 0) else {
      return ["the field \(name) of \(shape.type) is a list"]
    }
    switch field.value {
    case .leaf, .date, .object(_, _, holdsEntities: true): return []
    case .object: return ["the field \(name) of \(shape.type) has no id"]
    }
  }
}
