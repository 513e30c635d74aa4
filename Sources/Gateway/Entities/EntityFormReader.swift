import Filtering
import Model
import Upstream

/// Reads the form of a read's entities from a view and the parameter `include`.
///
/// A view nests the relationships that its fragment selects fields of, `include` adds others and sets
/// limit and order of both. Below two levels a relationship is shown as an id.
struct EntityFormReader {
  /// The number of entities nested in all rows of a page: each costs about as much as a row.
  static let nestedMax = 20_000

  /// Returns why rows of a form would nest too many entities; nil if they do not.
  static func excess(of form: EntityForm, in rows: Int) -> String? {
    let count = rows * form.nestedCountMax
    guard count > nestedMax else { return nil }
    return "can nest \(count) entities in \(rows) rows, the maximum is \(nestedMax): "
      + "lower the limits in include, or limit"
  }

  private let directory: EntityDirectory
  /// Each once: a list of several types can have the same fault for each.
  private(set) var faults: [String] = []

  init(directory: EntityDirectory) {
    self.directory = directory
  }

  /// - Parameters:
  ///   - include: the parameter's text; nil if it is not given.
  ///   - types: the types of the entities that are read.
  mutating func read(_ view: EntityView?, include: String?, of types: [String]) -> EntityForm {
    var inclusions: [Inclusion] = []
    if let include {
      do throws(InclusionFaults) {
        inclusions = try Inclusion.read(include)
      } catch {
        for message in error.messages { fault(message) }
      }
    }
    guard view != nil || !inclusions.isEmpty else { return .whole }
    return form(types, view?.selection.types, inclusions, level: 0)
  }

  private mutating func fault(_ message: String) {
    if !faults.contains(message) { faults.append(message) }
  }

  private mutating func form(
    _ types: [String], _ selections: [String: ObjectSelection]?, _ inclusions: [Inclusion],
    level: Int
  ) -> EntityForm {
    guard level < Inclusion.levelsMax else {
      return EntityForm(selections: selections, showsKey: true)
    }
    var all: [String: [NestedRelationship]] = [:]
    for type in types {
      let selection = selections?[type]
      var nested = selected(selection, of: type, inclusions, level: level)
      for inclusion in inclusions where !nested.contains(where: { $0.name == inclusion.name }) {
        guard let added = included(inclusion, of: type, level: level) else { continue }
        if selection?.fields.contains(where: { $0.responseName == added.responseName }) == true {
          fault("\(added.name) is another field of the view")
        }
        nested.append(added)
      }
      all[type] = nested
    }
    for inclusion in inclusions
    where !all.values.joined().contains(where: { $0.name == inclusion.name }) {
      faultUnknown(inclusion, of: types)
    }
    return EntityForm(selections: selections, relationships: all, showsKey: level > 0)
  }

  private mutating func faultUnknown(_ inclusion: Inclusion, of types: [String]) {
    let names = Set(types.flatMap { directory.relationshipNames(of: $0) }).sorted()
    let owner = types.joined(separator: " and ")
    fault(
      "\(owner) has no relationship \(inclusion.name)"
        + (names.isEmpty ? "" : "; it has \(names.joined(separator: ", "))"))
  }

  // MARK: Relationships

  /// Returns the relationships that a view selects fields of.
  private mutating func selected(
    _ selection: ObjectSelection?, of type: String, _ inclusions: [Inclusion], level: Int
  ) -> [NestedRelationship] {
    guard let selection else { return [] }
    var nested: [NestedRelationship] = []
    for field in selection.fields where !field.isAdded {
      guard case .object(let inner) = field.value,
        let isToMany = directory.relationship(field.name, of: type)?.isToMany
      else { continue }
      let targets = inner.types.keys.filter(directory.isEntity).sorted()
      guard !targets.isEmpty else { continue }
      let inclusion = inclusions.first { $0.name == field.name }
      let (limit, order) = window(of: inclusion, field.name, of: type, isToMany: isToMany)
      nested.append(
        NestedRelationship(
          name: field.name, responseName: field.responseName, storageName: field.storageName,
          isToMany: isToMany, types: targets, limit: limit, order: order,
          form: form(targets, inner.types, inclusion?.inner ?? [], level: level + 1)))
    }
    return nested
  }

  private mutating func included(
    _ inclusion: Inclusion, of type: String, level: Int
  ) -> NestedRelationship? {
    let name = inclusion.name
    let targets = directory.types(ofRelationship: name, of: type)
    guard !targets.isEmpty else { return nil }
    let link = directory.link(name, of: type).flatMap { link in
      (try? directory.type(named: link.type)).map {
        NestedRelationship.Link(type: $0, column: link.field)
      }
    }
    let isToMany = link != nil || directory.relationship(name, of: type)?.isToMany == true
    let (limit, order) = window(of: inclusion, name, of: type, isToMany: isToMany)
    return NestedRelationship(
      name: name, responseName: name, isToMany: isToMany, link: link, types: targets,
      limit: limit, order: order,
      form: form(targets, nil, inclusion.inner, level: level + 1))
  }

  private mutating func window(
    of inclusion: Inclusion?, _ name: String, of type: String, isToMany: Bool
  ) -> (limit: Int, order: EntityOrder) {
    guard isToMany else {
      if inclusion?.limit != nil || inclusion?.order != nil {
        fault("\(name) is a to-one relationship: limit and order apply to lists")
      }
      return (1, .byKey)
    }
    let limit = inclusion?.limit ?? Inclusion.limitDefault
    guard let text = inclusion?.order else { return (limit, .byKey) }
    guard let members = directory.commonType(ofRelationship: name, of: type) else {
      return (limit, .byKey)
    }
    do throws(EntityOrderFaults) {
      return (limit, try EntityOrder(text, type: members, graph: directory.graph))
    } catch {
      for message in error.messages { fault("the order of \(name): \(message)") }
      return (limit, .byKey)
    }
  }
}
