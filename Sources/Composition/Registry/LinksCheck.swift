import GraphQL
import Model
import Upstream

/// The check of `links` in settings against the known types and fields.
struct LinksCheck {
  private(set) var links: [EntityLink] = []
  private(set) var faults: [SettingsFault] = []

  private let loaded: LoadedSettings
  private let catalogue: EntityCatalogue

  /// - Parameter catalogue: the catalogue including the local types.
  init(loaded: LoadedSettings, catalogue: EntityCatalogue) {
    self.loaded = loaded
    self.catalogue = catalogue
    for (name, settings) in loaded.settings.links.sorted(by: { $0.key < $1.key }) {
      let parts = name.split(separator: ".").map(String.init)
      // Their presence was checked with the settings.
      guard parts.count == 2, let type = settings.type, let field = settings.field else { continue }
      let link = EntityLink(owner: parts[0], name: parts[1], type: type, field: field)
      if check(link) { links.append(link) }
    }
  }

  private mutating func check(_ link: EntityLink) -> Bool {
    let faultsBefore = faults.count
    if let owner = type(link.owner, of: link, setting: "type") {
      if owner.keyFields.count != 1 {
        fault(
          link, "type",
          "the key of \(owner.name) has several fields, so no single field can name it")
      }
      if catalogue.shapes[owner.name]?.fields[link.name] != nil {
        fault(link, "type", "\(owner.name) has a field \(link.name) already")
      }
    }
    if let members = type(link.type, of: link, setting: "type") {
      checkField(of: link, in: members)
    }
    return faults.count == faultsBefore
  }

  private mutating func type(
    _ name: String, of link: EntityLink, setting: String
  ) -> EntityType? {
    if let type = catalogue.type(named: name) { return type }
    fault(
      link, setting,
      "no operation selects the type \(name)."
        + NearestNames.didYouMean(name, among: catalogue.types.map(\.name)))
    return nil
  }

  private mutating func checkField(of link: EntityLink, in members: EntityType) {
    let kinds: Set<EntityType.Column.Kind> = [.text, .integer, .reference]
    let columns = members.columns.filter { kinds.contains($0.kind) && $0.dates == nil }
    guard !columns.contains(where: { $0.name == link.field }) else { return }
    guard members.columns.contains(where: { $0.name == link.field }) else {
      return fault(
        link, "field",
        "no operation selects the field \(link.field) of \(members.name) as a single value."
          + NearestNames.didYouMean(link.field, among: columns.map(\.name)))
    }
    fault(link, "field", "\(link.field) of \(members.name) cannot hold a key")
  }

  private mutating func fault(_ link: EntityLink, _ setting: String, _ message: String) {
    let name = "links.\(link.owner).\(link.name).\(setting)"
    faults.append(SettingsFault(loaded.place(of: name), "`\(name)`: \(message)"))
  }
}
