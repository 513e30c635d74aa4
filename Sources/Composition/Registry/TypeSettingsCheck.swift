import GraphQL
import Model
import Upstream

/// What settings say of types, held against the types there are. A field that cannot be searched or
/// indexed is told and not passed over: whoever named it counts on it.
struct TypeSettingsCheck {
  let loaded: LoadedSettings
  /// With the local types in it.
  let catalogue: EntityCatalogue
  let local: LocalSchema
  private(set) var faults: [SettingsFault] = []
  private(set) var warnings: [Finding] = []

  init(loaded: LoadedSettings, catalogue: EntityCatalogue, local: LocalSchema) {
    self.loaded = loaded
    self.catalogue = catalogue
    self.local = local
  }

  mutating func run() {
    for (name, settings) in loaded.settings.types.sorted(by: { $0.key < $1.key }) {
      guard let type = catalogue.type(named: name) else {
        warn(ofUnknown: name, settings)
        continue
      }
      for field in settings.index { checkIndex(field, of: type) }
      for field in settings.search { checkSearch(field, of: type) }
      if settings.dates != nil, local.types[name] == nil {
        fault(
          "dates", of: name,
          "\(name) is upstream's: its dates are as upstream writes them")
      }
    }
  }

  private mutating func checkIndex(_ field: String, of type: EntityType) {
    guard !type.columns.contains(where: { $0.name == field }) else { return }
    fault("index", of: type.name, missing(field, of: type, among: type.columns))
  }

  private mutating func checkSearch(_ field: String, of type: EntityType) {
    let texts = type.columns.filter { $0.kind == .text && $0.dates == nil }
    guard !texts.contains(where: { $0.name == field }) else { return }
    guard type.columns.contains(where: { $0.name == field }) else {
      return fault("search", of: type.name, missing(field, of: type, among: texts))
    }
    fault("search", of: type.name, "\(field) is no text, and texts alone are searched")
  }

  private func missing(
    _ field: String, of type: EntityType, among columns: [EntityType.Column]
  ) -> String {
    let what =
      local.types[type.name] == nil
      ? "no operation selects \(field) of \(type.name) as a single value"
      : "\(type.name) has no single value \(field)"
    return what + "." + NearestNames.didYouMean(field, among: columns.map(\.name))
  }

  private mutating func fault(_ setting: String, of type: String, _ message: String) {
    let name = "types.\(type).\(setting)"
    let place = loaded.places[name] ?? .wholeFile(name: "settings")
    faults.append(SettingsFault(place, "`\(name)`: \(message)"))
  }

  /// No fault: the operation that reached the type may come back.
  private mutating func warn(ofUnknown name: String, _ settings: TypeSettings) {
    guard !settings.index.isEmpty || !settings.search.isEmpty || settings.dates != nil else {
      return
    }
    warnings.append(
      Finding(
        severity: .warning,
        message: "types.\(name) has no effect: no operation reaches such a type."
          + NearestNames.didYouMean(name, among: catalogue.types.map(\.name))))
  }
}
