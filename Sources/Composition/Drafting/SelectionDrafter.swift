import GraphQL

/// Drafts what an operation selects: all fields of the result that need no argument, and one level of objects
/// within it.
struct SelectionDrafter {
  /// The lists of objects that are selected within a result.
  enum InnerLists {
    /// None: there would be one for each element of the result.
    case none
    /// Those that an argument bounds.
    case bounded
    /// All, as in the payload of a mutation.
    case all
  }

  /// The maximum number of leaf fields of the result.
  private static let leavesMax = 60
  /// The same of an object within it.
  private static let innerLeavesMax = 6
  /// The maximum number of objects within the result.
  private static let objectsMax = 16
  /// The maximum number of types of a union or an interface that have a selection of their own.
  private static let variantsMax = 12

  /// The fields with the elements of an object that is a page of a list, the best first.
  private static let elementFields = [
    "nodes", "items", "results", "edges", "data", "entries", "records", "list", "rows", "objects",
    "content",
  ]

  private let schema: Schema
  private let arguments: ArgumentDrafter
  /// The fields of the result, and of the objects within it, that are left out.
  private(set) var omitted: [OmittedSelection] = []

  init(_ schema: Schema, arguments: ArgumentDrafter) {
    self.schema = schema
    self.arguments = arguments
  }

  /// - Returns: nil if nothing can be selected.
  mutating func draft(_ type: NamedType, lists: InnerLists) -> SelectionSet? {
    omitted = []
    var shapes: [String: String] = [:]
    let selections = result(type, lists: lists, shapes: &shapes)
    return selections.isEmpty ? nil : SelectionSet(selections)
  }

  /// Whether objects of a type are pages of a list.
  func isPage(_ type: NamedType) -> Bool { elements(of: type) != nil }

  /// The type of the elements of a page.
  func elementType(of page: NamedType) -> NamedType? {
    guard let list = elements(of: page), let element = schema.type(of: list.type) else {
      return nil
    }
    return node(of: element).flatMap { schema.type(of: $0.type) } ?? element
  }

  // MARK: The result

  private mutating func result(
    _ type: NamedType, lists: InnerLists, shapes: inout [String: String]
  ) -> [Selection] {
    if let list = elements(of: type) {
      return page(type, list: list) { drafter, element in
        var shapes: [String: String] = [:]
        return drafter.result(element, lists: .none, shapes: &shapes)
      }
    }
    noteUnselectable(of: type)
    var selections = type.isAbstract ? [Self.typename] : []
    selections += leaves(of: type, max: Self.leavesMax, at: "", shapes: &shapes)
    selections += objects(of: type, lists: lists, shapes: &shapes)
    selections += variants(of: type, max: Self.leavesMax, at: "", shapes: &shapes)
    // The type's name alone says nothing.
    return selections == [Self.typename] && type.kind == .interface ? [] : selections
  }

  private static let typename = Selection.field(Field(name: Name("__typename")))

  /// - Parameter place: what precedes a field's name where it is left out, such as `director.`.
  private mutating func leaves(
    of type: NamedType, max: Int, at place: String, shapes: inout [String: String]
  ) -> [Selection] {
    let fields = type.fields.filter { isSelectable($0) && schema.type(of: $0.type)?.isLeaf == true }
    let ordered = fields.filter { $0.name == "id" } + fields.filter { $0.name != "id" }
    var selections: [Selection] = []
    for field in ordered.prefix(max) {
      if agrees(field, &shapes) {
        selections.append(.field(Field(name: Name(field.name))))
      } else {
        omit(place + field.name, .otherType)
      }
    }
    for field in ordered.dropFirst(max) { omit(place + field.name, .size) }
    return selections
  }

  private mutating func omit(_ field: String, _ reason: OmittedSelection.Reason) {
    omitted.append(OmittedSelection(field: field, reason: reason))
  }

  /// Notes the fields of a result that cannot be selected whatever their type is.
  private mutating func noteUnselectable(of type: NamedType) {
    for field in type.fields {
      if field.deprecationReason != nil {
        omit(field.name, .deprecated)
      } else if field.name.hasPrefix("larder_") {
        omit(field.name, .reserved)
      } else {
        let required = field.arguments.filter(\.isRequired).map(\.name)
        if !required.isEmpty { omit(field.name, .arguments(required)) }
      }
    }
  }

  private mutating func objects(
    of type: NamedType, lists: InnerLists, shapes: inout [String: String]
  ) -> [Selection] {
    var selections: [Selection] = []
    for field in type.fields where isSelectable(field) {
      guard let inner = schema.type(of: field.type), inner.isComposite else { continue }
      guard selections.count < Self.objectsMax else {
        omit(field.name, .size)
        continue
      }
      let bound = arguments.bound(of: field)
      if field.type.item != nil || isPage(inner), !keeps(lists, isBounded: bound != nil) {
        omit(field.name, .list)
        continue
      }
      let selected = innerSelection(inner, at: "\(field.name).")
      guard !selected.isEmpty else {
        omit(field.name, .nothingWithin)
        continue
      }
      guard agrees(field, &shapes) else {
        omit(field.name, .otherType)
        continue
      }
      selections.append(
        .field(
          Field(
            name: Name(field.name), arguments: bound ?? [], selectionSet: SelectionSet(selected))))
    }
    return selections
  }

  private func keeps(_ lists: InnerLists, isBounded: Bool) -> Bool {
    switch lists {
    case .none: false
    case .bounded: isBounded
    case .all: true
    }
  }

  private mutating func innerSelection(_ type: NamedType, at place: String) -> [Selection] {
    if let list = elements(of: type) {
      return page(type, list: list) { drafter, element in drafter.innerObject(element, at: place) }
    }
    return innerObject(type, at: place)
  }

  private mutating func innerObject(_ type: NamedType, at place: String) -> [Selection] {
    var shapes: [String: String] = [:]
    let leaves = leaves(of: type, max: Self.innerLeavesMax, at: place, shapes: &shapes)
    guard type.isAbstract else { return leaves }
    return [Self.typename] + leaves
      + variants(of: type, max: Self.innerLeavesMax, at: place, shapes: &shapes)
  }

  /// The fields that the types of a union or an interface have besides those of all.
  private mutating func variants(
    of type: NamedType, max: Int, at place: String, shapes: inout [String: String]
  ) -> [Selection] {
    guard type.isAbstract else { return [] }
    let types = schema.possibleTypes(of: type)
    guard types.count <= Self.variantsMax else {
      for member in types { omit("\(place)... on \(member.name)", .size) }
      return []
    }
    let shared = Set(type.fields.map(\.name))
    var selections: [Selection] = []
    for member in types {
      let own = leaves(of: member, max: max, at: "\(place)\(member.name).", shapes: &shapes)
        .filter { selection in
          guard case .field(let field) = selection else { return false }
          return !shared.contains(field.name.value)
        }
      guard !own.isEmpty else { continue }
      selections.append(
        .inlineFragment(
          InlineFragment(typeCondition: Name(member.name), selectionSet: SelectionSet(own))))
    }
    return selections
  }

  // MARK: Pages

  /// The list with the elements of a page: an object that is no entity itself.
  private func elements(of type: NamedType) -> SchemaField? {
    guard type.kind == .object, type.fields["id"] == nil else { return nil }
    for name in Self.elementFields {
      guard let field = type.fields[name], isSelectable(field), field.type.item != nil,
        schema.type(of: field.type)?.isComposite == true
      else { continue }
      return field
    }
    return nil
  }

  /// The field with the element itself in an edge of a connection.
  private func node(of edge: NamedType) -> SchemaField? {
    guard edge.kind == .object, edge.fields["id"] == nil, let node = edge.fields["node"],
      isSelectable(node), schema.type(of: node.type)?.isComposite == true
    else { return nil }
    return node
  }

  private mutating func page(
    _ type: NamedType, list: SchemaField,
    elements select: (inout SelectionDrafter, NamedType) -> [Selection]
  ) -> [Selection] {
    guard let element = schema.type(of: list.type) else { return [] }
    var inner: [Selection]
    if let node = node(of: element), let nodeType = schema.type(of: node.type) {
      var shapes: [String: String] = [:]
      inner = leaves(of: element, max: Self.innerLeavesMax, at: "", shapes: &shapes)
      let selected = select(&self, nodeType)
      guard !selected.isEmpty else { return [] }
      inner.append(.field(Field(name: Name(node.name), selectionSet: SelectionSet(selected))))
    } else {
      inner = select(&self, element)
    }
    guard !inner.isEmpty else { return [] }
    var shapes: [String: String] = [:]
    var selections = leaves(of: type, max: Self.innerLeavesMax, at: "", shapes: &shapes)
    selections.append(.field(Field(name: Name(list.name), selectionSet: SelectionSet(inner))))
    // Relay's `pageInfo` and its like.
    for field in type.fields where field.name != list.name && isSelectable(field) {
      guard field.type.item == nil, let info = schema.type(of: field.type), info.kind == .object,
        info.fields["id"] == nil
      else { continue }
      let leaves = innerObject(info, at: "\(field.name).")
      guard !leaves.isEmpty else { continue }
      selections.append(.field(Field(name: Name(field.name), selectionSet: SelectionSet(leaves))))
    }
    return selections
  }

  // MARK: Fields

  private func isSelectable(_ field: SchemaField) -> Bool {
    field.deprecationReason == nil && !field.name.hasPrefix("larder_")
      && !field.name.hasPrefix("__")
      && !field.arguments.contains(where: \.isRequired)
  }

  /// Whether a field can stand beside those of other types of the same position: fields of one name must
  /// have one shape (specification 5.3.2).
  private func agrees(_ field: SchemaField, _ shapes: inout [String: String]) -> Bool {
    let shape = field.type.description
    if let known = shapes[field.name] { return known == shape }
    shapes[field.name] = shape
    return true
  }
}
