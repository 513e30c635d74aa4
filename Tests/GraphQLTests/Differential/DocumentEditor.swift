import GraphQL
import TestSupport

/// Changes one random node of a kind inside a document in place.
struct DocumentEditor {
  var document: Document
  var random: SeededGenerator

  /// Changes a random selection set, if there is one.
  mutating func editSelectionSet(_ edit: (inout SelectionSet, inout SeededGenerator) -> Void) {
    var sets = 0
    visitSets { _ in sets += 1 }
    guard sets > 0 else { return }
    let chosen = Int.random(in: 0..<sets, using: &random)
    var index = 0
    var random = random
    visitSets { set in
      if index == chosen { edit(&set, &random) }
      index += 1
    }
    self.random = random
  }

  /// Changes a random field that `isWanted`.
  mutating func editField(
    where isWanted: (Field) -> Bool = { _ in true },
    _ edit: (inout Field, inout SeededGenerator) -> Void
  ) {
    var fields = 0
    visitFields { if isWanted($0) { fields += 1 } }
    guard fields > 0 else { return }
    let chosen = Int.random(in: 0..<fields, using: &random)
    var index = 0
    var random = random
    visitFields { field in
      guard isWanted(field) else { return }
      if index == chosen { edit(&field, &random) }
      index += 1
    }
    self.random = random
  }

  mutating func editOperation(_ edit: (inout OperationDefinition, inout SeededGenerator) -> Void) {
    let places = document.definitions.indices.filter {
      if case .operation = document.definitions[$0] { true } else { false }
    }
    guard let place = places.randomElement(using: &random),
      case .operation(var operation) = document.definitions[place]
    else { return }
    edit(&operation, &random)
    document.definitions[place] = .operation(operation)
  }

  mutating func editFragment(_ edit: (inout FragmentDefinition, inout SeededGenerator) -> Void) {
    let places = document.definitions.indices.filter {
      if case .fragment = document.definitions[$0] { true } else { false }
    }
    guard let place = places.randomElement(using: &random),
      case .fragment(var fragment) = document.definitions[place]
    else { return }
    edit(&fragment, &random)
    document.definitions[place] = .fragment(fragment)
  }

  /// Changes the arguments of a random field that has some.
  mutating func editArguments(_ edit: (inout [Argument], inout SeededGenerator) -> Void) {
    editField(where: \.hasArguments) { field, random in edit(&field.arguments, &random) }
  }

  /// Changes a random value inside the arguments of a field: the whole or a part of it.
  mutating func editValue(_ edit: (inout Value, inout SeededGenerator) -> Void) {
    editArguments { arguments, random in
      let index = Int.random(in: 0..<arguments.count, using: &random)
      Self.edit(&arguments[index].value, &random, edit)
    }
  }

  private static func edit(
    _ value: inout Value, _ random: inout SeededGenerator,
    _ change: (inout Value, inout SeededGenerator) -> Void
  ) {
    let goesDeeper = Bool.random(using: &random)
    switch value.kind {
    case .list(var items) where goesDeeper && !items.isEmpty:
      edit(&items[Int.random(in: 0..<items.count, using: &random)], &random, change)
      value.kind = .list(items)
    case .object(var fields) where goesDeeper && !fields.isEmpty:
      edit(&fields[Int.random(in: 0..<fields.count, using: &random)].value, &random, change)
      value.kind = .object(fields)
    default:
      change(&value, &random)
    }
  }
}

extension DocumentEditor {
  mutating func visitFields(_ visit: (inout Field) -> Void) {
    visitSets { set in
      for index in set.selections.indices {
        guard case .field(var field) = set.selections[index] else { continue }
        visit(&field)
        set.selections[index] = .field(field)
      }
    }
  }

  mutating func visitSets(_ visit: (inout SelectionSet) -> Void) {
    for index in document.definitions.indices {
      switch document.definitions[index] {
      case .operation(var operation):
        Self.visit(&operation.selectionSet, visit)
        document.definitions[index] = .operation(operation)
      case .fragment(var fragment):
        Self.visit(&fragment.selectionSet, visit)
        document.definitions[index] = .fragment(fragment)
      case .schema, .type, .directive: continue
      }
    }
  }

  private static func visit(_ set: inout SelectionSet, _ change: (inout SelectionSet) -> Void) {
    change(&set)
    for index in set.selections.indices {
      switch set.selections[index] {
      case .field(var field):
        guard var inner = field.selectionSet else { continue }
        visit(&inner, change)
        field.selectionSet = inner
        set.selections[index] = .field(field)
      case .inlineFragment(var fragment):
        visit(&fragment.selectionSet, change)
        set.selections[index] = .inlineFragment(fragment)
      case .fragmentSpread: continue
      }
    }
  }
}

extension Field {
  var hasArguments: Bool { !arguments.isEmpty }
  var hasSelections: Bool { selectionSet != nil }

  /// Returns whether an argument is an object literal with a field.
  var hasObjectArgument: Bool {
    arguments.contains { argument in
      if case .object(let fields) = argument.value.kind { !fields.isEmpty } else { false }
    }
  }
}
