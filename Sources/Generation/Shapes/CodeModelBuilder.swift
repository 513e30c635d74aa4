import Model
import Upstream

/// Builds what the files of one language are written from, and reports names that collide.
struct CodeModelBuilder {
  private let interface: ClientInterface
  private let names: LanguageNames
  private let scalars: [String: ScalarForm]
  private let filesByName: Bool
  private var table: NameTable
  private var faults: [String] = []

  /// - Parameter filesByName: whether each type is a file of its own. Otherwise parts of fragments and of
  ///   responses have no names.
  init(
    _ interface: ClientInterface, names: LanguageNames, scalars: [String: ScalarForm],
    filesByName: Bool
  ) {
    self.interface = interface
    self.names = names
    self.scalars = scalars
    self.filesByName = filesByName
    table = NameTable(ignoresCase: filesByName)
  }

  mutating func build() throws(GenerationFaults) -> CodeModel {
    var model = CodeModel()
    let enums = Self.distinct(interface.enums)
    let inputs = Self.distinct(interface.inputs)
    let fragments = Self.distinct(interface.fragments)
    // Members name these; what they must not be hidden by is named after members.
    let outer = Set((enums.map(\.name) + inputs.map(\.name)).map(names.type))
    var builder = RecordBuilder(names: names, scalars: scalars, visibleTypes: outer)
    var contracts: [String: CodeContract] = [:]
    for fragment in fragments {
      let name = names.type(fragment.name)
      let record = builder.record(
        fragment.object, named: name, in: "fragment \(fragment.name)")
      let contract = Contracts.contract(
        record, named: name,
        documentation: Documentation.text(fragment.description)
          ?? "The fragment \(fragment.name) on \(fragment.object.typeName).")
      contracts[fragment.name] = contract
      model.contracts.append(contract)
      for part in filesByName ? contract.all : [contract] {
        table.add(part.name, "the fragment \(fragment.name)")
      }
    }
    let satisfied = Contracts(contracts)
    for type in enums { model.enums.append(codeEnum(type)) }
    for type in inputs { model.inputs.append(input(type, &builder)) }
    for entity in interface.entities { model.entities.append(self.entity(entity, &builder)) }
    for operation in interface.operations {
      model.operations.append(self.operation(operation, &builder, satisfied))
    }
    if filesByName { checkHidden(model) }
    faults += builder.faults + table.faults
    guard faults.isEmpty else { throw GenerationFaults(faults) }
    return model
  }

  /// Equal definitions, of upstreams or of `local.graphql`, count once; different ones collide.
  private static func distinct<Element: Hashable>(_ elements: [Element]) -> [Element] {
    var seen: Set<Element> = []
    return elements.filter { seen.insert($0).inserted }
  }

  // MARK: Parts

  private mutating func codeEnum(_ type: ClientEnum) -> CodeEnum {
    let name = names.type(type.name)
    table.add(name, "the enum \(type.name)")
    var known: [String: String] = [:]
    for value in type.values.map(\.name) {
      if let other = known[names.value(value)] {
        faults.append(
          "enum \(type.name): the values \(other) and \(value) both would be \(names.value(value)) in "
            + "generated code.")
      }
      known[names.value(value)] = value
    }
    return CodeEnum(
      name: name, documentation: Documentation.text(type.description), values: type.values)
  }

  private mutating func input(_ type: ClientInput, _ builder: inout RecordBuilder) -> CodeInput {
    let name = names.type(type.name)
    table.add(name, "the \(type.isEmbedded ? "local type" : "input object") \(type.name)")
    let remark = type.isOneOf ? "Exactly one field must be given." : nil
    let text = [Documentation.text(type.description), remark].compactMap { $0 }
    return CodeInput(
      name: name, documentation: text.isEmpty ? nil : text.joined(separator: "\n\n"),
      properties: builder.properties(type.fields, in: type.name), isEmbedded: type.isEmbedded,
      isRecursive: containsItself(type))
  }

  /// Whether a value of the type has another of the type inside, other than in a list.
  private func containsItself(_ type: ClientInput) -> Bool {
    var open = type.fields
    var seen: Set<String> = []
    while let field = open.popLast() {
      var inner = field.type
      if case .nonNull(let required) = inner { inner = required }
      guard case .input(let name) = inner, seen.insert(name).inserted else { continue }
      if name == type.name { return true }
      open += interface.inputs.first { $0.name == name }?.fields ?? []
    }
    return false
  }

  private mutating func entity(
    _ entity: ClientEntity, _ builder: inout RecordBuilder
  ) -> CodeEntity {
    let name = names.type(entity.name)
    table.add(name, "the \(entity.isLocal ? "local" : "entity") type \(entity.name)")
    let record = builder.record(
      ClientObject(typeName: entity.name, fields: entity.fields, fragments: []), named: name,
      in: "type \(entity.name)")
    return CodeEntity(
      name: name, documentation: Documentation.text(entity.description), typeName: entity.name,
      record: record, key: entity.keyFields.compactMap { record.property($0) },
      columns: record.properties.filter(isColumn), isLocal: entity.isLocal)
  }

  /// Whether a member is one value that filters and orders can name.
  private func isColumn(_ property: CodeProperty) -> Bool {
    switch property.type {
    case .scalar(let form): form != .json
    case .named(let name): interface.enums.contains { names.type($0.name) == name }
    case .reference: true
    case .optional, .list, .nested: false
    }
  }

  private mutating func operation(
    _ operation: ClientOperation, _ builder: inout RecordBuilder, _ contracts: Contracts
  ) -> CodeOperation {
    let suffix = IdentifierCase.upperFirst(operation.kind.rawValue)
    let name = names.type(IdentifierCase.upperFirst(operation.name) + suffix)
    let place = "operation \(operation.name)"
    let thing = "the \(operation.kind.rawValue) \(operation.name)"
    table.add(name, thing)
    if !filesByName {
      table.add(name + "Variables", "the variables of \(thing)")
      table.add(name + "Response", "the response of \(thing)")
    }
    return CodeOperation(
      name: name, operation: operation, documentation: Documentation.text(operation.description),
      variables: builder.properties(operation.variables, in: place),
      response: contracts.satisfied(
        by: builder.record(operation.response, named: "Response", in: place)))
  }

  /// Reports types inside records that hide a fragment's type which the same record names.
  private mutating func checkHidden(_ model: CodeModel) {
    for operation in model.operations {
      checkHidden(.record(operation.response), [], in: operation.operation.name)
    }
  }

  private mutating func checkHidden(
    _ shape: CodeShape, _ outside: Set<String>, in operation: String
  ) {
    switch shape {
    case .record(let record):
      report(record.contracts, outside, in: operation)
      let inner = outside.union(record.nested.map(\.shape.name))
      for nested in record.nested { checkHidden(nested.shape, inner, in: operation) }
    case .choice(let choice):
      report(choice.contracts, outside, in: operation)
      let inner = outside.union(choice.variants.map(\.name) + ["Other"])
      for record in choice.variants + [choice.other] {
        checkHidden(.record(record), inner, in: operation)
      }
    }
  }

  private mutating func report(
    _ contracts: [CodeContract], _ outside: Set<String>, in operation: String
  ) {
    for contract in contracts where outside.contains(contract.name) {
      faults.append(
        "operation \(operation): a member's type \(contract.name) hides the fragment "
          + "\(contract.name); rename the fragment, or give the member an alias.")
    }
  }
}

extension CodeShape {
  var name: String {
    switch self {
    case .record(let record): record.name
    case .choice(let choice): choice.name
    }
  }
}
