import GraphQL

/// The variables of an operation for one field, and the arguments that they are given to.
struct DraftedArguments {
  var variables: [VariableDefinition] = []
  var arguments: [Argument] = []
  /// The variables that identify one object, with their arguments.
  var keys: [(variable: String, argument: String)] = []
  var sizeVariable: String?
  /// The arguments that are left out, each as `where: film_bool_exp`.
  var omitted: [String] = []

  /// Whether a call needs no variable.
  var needsNoVariable: Bool {
    variables.allSatisfy { !$0.type.isNonNull || $0.defaultValue != nil }
  }
}

/// Drafts the variables of a root field and the bounded arguments of lists within objects.
struct ArgumentDrafter {
  /// The length of a list that is requested where the schema names none.
  static let listLength = "20"
  /// The same within an object.
  static let innerListLength = "10"
  /// The maximum number of optional arguments that become variables.
  private static let optionalMax = 12
  /// The maximum number of fields of an optional input object.
  private static let inputFieldsMax = 40

  /// The names of arguments for the length of a list.
  private static let sizes: Set<String> = [
    "first", "limit", "take", "pageSize", "page_size", "perPage", "per_page", "size",
  ]
  /// The names of arguments for the pages before a place, which make no sense beside ``sizes``.
  private static let backward: Set<String> = ["last", "before"]
  /// The names of variables that the service's own routes use as parameters.
  private static let reserved: Set<String> = ["diff", "from", "stream"]
  private static let keyNames: Set<String> = [
    "code", "guid", "handle", "id", "isbn", "key", "pk", "sku", "slug", "uid", "uuid",
  ]

  private let schema: Schema
  private let inputs: InputObjectSurvey

  init(_ schema: Schema) {
    self.schema = schema
    inputs = InputObjectSurvey(schema)
  }

  /// The reason why a field has no operation.
  struct Refusal: Error {
    let reason: String
  }

  /// - Parameter item: the type whose object a field returns; nil for a list and for a leaf.
  func draft(_ field: SchemaField, item: NamedType?) throws(Refusal) -> DraftedArguments {
    var drafted = DraftedArguments()
    let size = sizeArgument(of: field)
    var optional = 0
    for argument in field.arguments {
      let isKey = isKey(argument, of: field, item: item)
      guard argument.isRequired || isKey else {
        guard argument.deprecationReason == nil else { continue }
        guard size == nil || !Self.backward.contains(argument.name) else { continue }
        guard optional < Self.optionalMax, isReasonable(argument) else {
          drafted.omitted.append("\(argument.name): \(argument.type)")
          continue
        }
        optional += 1
        add(argument, as: argument.type, isSize: argument.name == size?.name, to: &drafted)
        continue
      }
      guard !inputs.uploads.contains(argument.type.name.value) else {
        throw Refusal(reason: "the argument \(argument.name) is a file upload")
      }
      guard let type = schema.type(of: argument.type), type.isInput else {
        throw Refusal(reason: "the argument \(argument.name) has an unknown type")
      }
      let demanded =
        isKey && !argument.type.isNonNull ? TypeReference.nonNull(argument.type) : argument.type
      let variable = add(
        argument, as: demanded, isSize: argument.name == size?.name, to: &drafted)
      if isKey { drafted.keys.append((variable, argument.name)) }
    }
    return drafted
  }

  /// The argument that bounds a list within an object, as a literal; an empty list if the schema has a bound
  /// of its own, nil if the field has no such argument.
  func bound(of field: SchemaField) -> [Argument]? {
    guard let size = sizeArgument(of: field) else { return nil }
    if size.defaultValue != nil { return [] }
    return [Argument(name: Name(size.name), value: Value(.int(Self.innerListLength)))]
  }

  private func sizeArgument(of field: SchemaField) -> InputValue? {
    field.arguments.first {
      Self.sizes.contains($0.name) && $0.type.item == nil && $0.type.name.value == "Int"
    }
  }

  @discardableResult
  private func add(
    _ argument: InputValue, as type: TypeReference, isSize: Bool,
    to drafted: inout DraftedArguments
  ) -> String {
    let variable = Self.reserved.contains(argument.name) ? "\(argument.name)Value" : argument.name
    let fallback = argument.defaultValue ?? (isSize ? Value(.int(Self.listLength)) : nil)
    drafted.variables.append(
      VariableDefinition(name: Name(variable), type: type, defaultValue: fallback))
    drafted.arguments.append(
      Argument(name: Name(argument.name), value: Value(.variable(variable))))
    if isSize { drafted.sizeVariable = variable }
    return variable
  }

  // MARK: Keys

  /// Whether an argument identifies the object that a field returns.
  private func isKey(_ argument: InputValue, of field: SchemaField, item: NamedType?) -> Bool {
    guard argument.defaultValue == nil, argument.deprecationReason == nil,
      argument.type.item == nil, let type = schema.type(of: argument.type), type.kind == .scalar,
      !["Boolean", "Float", "Upload"].contains(type.name)
    else { return false }
    let last = FieldWords(argument.name).words.last ?? ""
    let isNamedSo =
      type.name == "ID" || type.name.lowercased() == "uuid" || Self.keyNames.contains(last)
    guard argument.isRequired else {
      // `film(id: ID)` with nothing else to choose by.
      return item != nil && isNamedSo && field.arguments.count == 1
    }
    guard let item else { return isNamedSo }
    let isFieldOfItem =
      item.fields[argument.name].map { field in
        field.type.item == nil && schema.type(of: field.type)?.isLeaf == true
          && !field.arguments.contains(where: \.isRequired)
      } ?? false
    return isNamedSo || isFieldOfItem
  }

  // MARK: Input objects

  /// Whether an optional argument is worth a variable: not a language of conditions of its own, whose values
  /// would each be a response of their own in the cache.
  private func isReasonable(_ argument: InputValue) -> Bool {
    guard let type = schema.type(of: argument.type), type.isInput else { return false }
    guard type.kind == .inputObject else { return !inputs.uploads.contains(type.name) }
    return type.inputFields.count <= Self.inputFieldsMax && !inputs.endless.contains(type.name)
      && !inputs.uploads.contains(type.name)
  }
}

/// The input objects of a schema that are no ordinary values.
struct InputObjectSurvey {
  /// The names of those that contain themselves, or lead to one that does.
  private(set) var endless: Set<String>
  /// The names of those that contain an upload.
  private(set) var uploads: Set<String> = ["Upload"]

  init(_ schema: Schema) {
    let inputs = schema.types.filter { $0.kind == .inputObject }
    var open = Set(inputs.map(\.name))
    // What contains only objects that end, ends itself.
    while true {
      let closed = inputs.filter { type in
        open.contains(type.name)
          && !type.inputFields.contains { open.contains($0.type.name.value) }
      }
      if closed.isEmpty { break }
      open.subtract(closed.map(\.name))
    }
    endless = open
    while true {
      let found = inputs.filter { type in
        !uploads.contains(type.name)
          && type.inputFields.contains { uploads.contains($0.type.name.value) }
      }
      if found.isEmpty { break }
      uploads.formUnion(found.map(\.name))
    }
  }
}
