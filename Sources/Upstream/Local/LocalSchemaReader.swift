import GraphQL
package import Model

/// Reads `local.graphql` into local types and their views, and collects all faults.
///
/// The two sides of relationships are checked once all types are known.
package struct LocalSchemaReader {
  private let foreignTypes: Set<String>
  private let takenNames: Set<String>
  private let viewNames: Set<String>
  private let catalogue: EntityCatalogue
  private let upstreamViews: [String: EntityView]
  /// All fields of upstream's types, selected or not.
  private let outline: SchemaOutline?
  private(set) var findings: [Finding] = []
  private(set) var definitions: [String: TypeDefinition] = [:]
  private var interfaces = LocalInterfaces([:])
  /// The definitions of local fields, by the names of their parts, see ``LocalSchema/partName(of:owner:)``.
  var extensions: [String: TypeDefinition] = [:]
  /// The views of the last file read, if it had no faults.
  package private(set) var views: [EntityView] = []

  /// - Parameters:
  ///   - catalogue: the operations' catalogue, whose types local types can refer to.
  ///   - viewNames: the names of the operations' fragments.
  ///   - views: the operations' views, by name.
  ///   - outline: upstream's types with all their fields; nil if only those of the catalogue are known.
  package init(
    catalogue: EntityCatalogue, viewNames: Set<String> = [], views: [String: EntityView] = [:],
    outline: SchemaOutline? = nil
  ) {
    self.viewNames = viewNames
    self.catalogue = catalogue
    self.outline = outline
    upstreamViews = views
    foreignTypes = Set(catalogue.types.map(\.name))
    takenNames = foreignTypes.union(catalogue.shapes.keys).union(catalogue.possibleTypes.keys)
  }

  /// - Returns: no schema if there are faults.
  package mutating func read(
    _ file: SourceFile
  ) -> (schema: LocalSchema?, findings: [Finding]) {
    let (document, faults) = Parser.parseRecovering(Source(name: file.path, body: file.text))
    findings = faults.map { Finding($0) }
    let types = document.definitions.compactMap { definition in
      if case .type(let type) = definition { type } else { nil }
    }
    for definition in document.definitions { checkKind(definition) }
    for type in types where !type.isExtension { declare(type) }
    let schema = schema(
      of: types.filter { !$0.isExtension }, extending: types.filter(\.isExtension))
    var reader = LocalViewReader(
      schema: schema, fragments: document.fragments, takenNames: viewNames,
      upstream: UpstreamViewReader(catalogue: catalogue.adding(schema), views: upstreamViews))
    views = reader.read()
    findings += reader.findings
    findings = Self.sorted(findings)
    let hasFault = findings.contains { $0.severity == .fault }
    return (hasFault ? nil : schema, findings)
  }

  mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  private static func sorted(_ findings: [Finding]) -> [Finding] {
    findings.enumerated().sorted { left, right in
      (left.element.line, left.element.column, left.offset)
        < (right.element.line, right.element.column, right.offset)
    }.map(\.element)
  }

  // MARK: Definitions

  private mutating func checkKind(_ definition: Definition) {
    let allowed = "local.graphql can only define object types, interfaces, enums and scalars"
    switch definition {
    case .fragment: return
    case .operation, .schema:
      fault("\(allowed), and fragments.", at: definition.location)
    case .directive(let directive):
      guard !LocalDirectives.names.contains(directive.name.value) else { return }
      fault("Custom directives are not supported.", at: directive.location)
    case .type(let type):
      if type.isExtension { return }
      switch type.body {
      case .union, .inputObject:
        fault("\(allowed), not \(type.name.value).", at: type.name.location)
      case .scalar:
        guard LocalScalar(rawValue: type.name.value) == nil else { return }
        let known = LocalScalar.allCases.map(\.rawValue).joined(separator: ", ")
        fault(
          "Unknown scalar \(type.name.value); the scalars are \(known).", at: type.name.location)
      case .enum, .object, .interface: return
      }
    }
  }

  private mutating func declare(_ type: TypeDefinition) {
    let name = type.name.value
    if definitions[name] != nil {
      fault("The type \(name) is defined twice.", at: type.name.location)
    } else if case .scalar = type.body {
      return
    } else if takenNames.contains(name) || LocalScalar(rawValue: name) != nil {
      fault("\(name) is an upstream type or built in.", at: type.name.location)
    } else if name.hasPrefix("__") {
      fault("Names beginning with __ are reserved by GraphQL.", at: type.name.location)
    } else {
      definitions[name] = type
    }
  }

  // MARK: Types

  private mutating func schema(
    of types: [TypeDefinition], extending added: [TypeDefinition]
  ) -> LocalSchema {
    var enums: [String: [String]] = [:]
    for type in types where type.kind == .enum {
      enums[type.name.value] = type.enumValues.map(\.name.value)
    }
    interfaces = LocalInterfaces(definitions)
    interfaces.check()
    findings += interfaces.findings
    var common: [String: LocalInterface] = [:]
    for type in types where type.kind == .interface {
      checkDirectives(type)
      let name = type.name.value
      common[name] = LocalInterface(
        name: name, fields: fields(of: type), types: interfaces.types[name] ?? [])
    }
    var local: [String: LocalType] = [:]
    var objects: [String: [LocalField]] = [:]
    for type in types where type.kind == .object {
      checkDirectives(type)
      let fields = fields(of: type)
      let name = type.name.value
      if let directive = type.directives.directive(named: LocalDirectives.local) {
        let arguments = DirectiveArguments(directive)
        var keys = LocalKeyReader(type: type, fields: fields)
        let key = keys.key(inherited: interfaces.implemented(by: type))
        local[name] = LocalType(
          name: name, formerName: formerName(type.directives),
          scope: arguments.enumValue("scope") == "USER" ? .user : .device, fields: fields,
          keyFields: key, uniques: keys.uniques(key: key))
        findings += keys.findings
      } else {
        objects[name] = fields
      }
    }
    let schema = LocalSchema(
      types: local, objects: objects, enums: enums, extensions: extensions(added),
      interfaces: common)
    var pairs = LocalRelationshipChecker(
      schema: schema, definitions: definitions.merging(extensions) { first, _ in first })
    pairs.check()
    findings += pairs.findings
    let whole = withDefaults(schema)
    checkValues(of: whole.extensions)
    return whole
  }

  private mutating func checkDirectives(_ type: TypeDefinition) {
    var checker = LocalDirectives()
    let isInterface = type.kind == .interface
    checker.check(type.directives, on: isInterface ? .interface : .type)
    for field in type.fields { checker.check(field.directives, on: .field) }
    findings += checker.findings
    for directive in isInterface ? type.fields.flatMap(\.directives) : []
    where LocalDirectives.names.contains(directive.name.value) {
      fault(
        "@\(directive.name.value) goes on the fields of the types that implement "
          + "\(type.name.value).", at: directive.location)
    }
    let isLocal = type.directives.directive(named: LocalDirectives.local) != nil
    guard !isLocal, !isInterface else { return checkFormerName(type) }
    for name in [LocalDirectives.renamed, LocalDirectives.key, LocalDirectives.unique] {
      guard let directive = type.directives.directive(named: name) else { continue }
      fault("@\(name) can only be applied to types with @local.", at: directive.location)
    }
    for field in type.fields {
      guard let directive = field.directives.directive(named: LocalDirectives.unique) else {
        continue
      }
      fault("@unique can only be applied to fields of types with @local.", at: directive.location)
    }
  }

  private mutating func checkFormerName(_ type: TypeDefinition) {
    guard let former = formerName(type.directives) else { return }
    let location = type.directives.directive(named: LocalDirectives.renamed)?.location
    if definitions[former] != nil {
      fault("\(former) still exists.", at: location ?? type.location)
    }
  }

  // MARK: Upstream

  func isUpstream(_ type: String) -> Bool { foreignTypes.contains(type) }

  var upstreamTypes: [String] { foreignTypes.sorted() }

  func hasUpstreamField(_ name: String, of type: String) -> Bool {
    catalogue.shapes[type]?.fields[name] != nil || outline?.objects[type]?.fields[name] != nil
  }

  /// Checks the directives of a field that is added to a type of upstream.
  mutating func note(_ directives: [Directive]) {
    var checker = LocalDirectives()
    checker.check(directives, on: .addedField)
    findings += checker.findings
  }

  private func formerName(_ directives: [Directive]) -> String? {
    directives.directive(named: LocalDirectives.renamed)
      .flatMap { DirectiveArguments($0).string("from") }
  }

  // MARK: Fields

  mutating func fields(of type: TypeDefinition) -> [LocalField] {
    var seen: Set<String> = []
    let isLocal =
      type.isExtension || type.kind == .interface
      || type.directives.directive(named: LocalDirectives.local) != nil
    return type.fields.compactMap { definition in
      let name = definition.name.value
      if !seen.insert(name).inserted {
        fault("The field \(name) is defined twice.", at: definition.name.location)
        return nil
      }
      if name.hasPrefix("_") {
        fault("Field names cannot begin with _.", at: definition.name.location)
      }
      if let argument = definition.arguments.first {
        fault("Fields of local types cannot have arguments.", at: argument.location)
      }
      if let former = formerName(definition.directives),
        let directive = definition.directives.directive(named: LocalDirectives.renamed),
        type.fields.contains(where: { $0.name.value == former })
      {
        fault("\(former) still exists.", at: directive.location)
      }
      guard let kind = kind(of: definition, isLocal: isLocal) else { return nil }
      return field(definition, kind)
    }
  }

  private mutating func kind(
    of definition: FieldDefinition, isLocal: Bool
  ) -> LocalField.Kind? {
    let name = definition.type.name
    if let scalar = LocalScalar(rawValue: name.value) { return .scalar(scalar) }
    let inverse = definition.directives.directive(named: LocalDirectives.inverse)
      .flatMap { directive -> LocalField.Inverse? in
        let arguments = DirectiveArguments(directive)
        let rule = arguments.enumValue("onDelete")?.lowercased() ?? "nullify"
        guard let field = arguments.string("field"),
          let onDelete = LocalField.DeleteRule(rawValue: rule)
        else { return nil }
        return LocalField.Inverse(field: field, onDelete: onDelete)
      }
    let target = definitions[name.value]
    let isEntity =
      target?.directives.directive(named: LocalDirectives.local) != nil
      || target?.kind == .interface || foreignTypes.contains(name.value)
    if isEntity {
      if !isLocal {
        fault("Only types with @local can refer to entities.", at: name.location)
      }
      if definition.type.item?.item != nil {
        fault(
          "A relationship must be an entity or a list of entities.", at: definition.type.location)
      }
      return .entity(name.value, inverse)
    }
    switch target?.kind {
    case .enum: return .enumeration(name.value)
    case .object: return .object(name.value)
    default:
      let known =
        Array(definitions.keys) + Array(foreignTypes) + LocalScalar.allCases.map(\.rawValue)
      fault(
        "Unknown type \(name.value)."
          + NearestNames.didYouMean(name.value, among: known.sorted()), at: name.location)
      return nil
    }
  }

  private mutating func field(
    _ definition: FieldDefinition, _ kind: LocalField.Kind
  ) -> LocalField {
    var reader = LocalRulesReader(definition: definition, kind: kind)
    let rules = reader.read()
    findings += reader.findings
    return LocalField(
      name: definition.name.value, formerName: formerName(definition.directives), kind: kind,
      nonNull: Self.nonNull(definition.type),
      possibleTypes: interfaces.types[definition.type.name.value] ?? [], rules: rules)
  }

  private static func nonNull(_ type: TypeReference) -> [Bool] {
    [type.isNonNull] + (type.item.map(nonNull) ?? [])
  }

  // MARK: Defaults

  /// Reads the defaults, which are validated like client values and so need all enums and objects.
  private mutating func withDefaults(_ schema: LocalSchema) -> LocalSchema {
    var reader = LocalDefaultsReader(
      schema: schema, definitions: definitions.merging(extensions) { first, _ in first })
    let withDefaults = { (type: LocalType) in
      type.with(fields: reader.withDefaults(type.fields, of: type.name))
    }
    let types = schema.types.mapValues(withDefaults)
    let extensions = schema.extensions.mapValues { $0.map(withDefaults) }
    let objects = Dictionary(
      uniqueKeysWithValues: schema.objects.map { name, fields in
        (name, reader.withDefaults(fields, of: name))
      })
    findings += reader.findings
    return LocalSchema(
      types: types, objects: objects, enums: schema.enums, extensions: extensions,
      interfaces: schema.interfaces)
  }
}

extension EntityCatalogue {
  /// The catalogue with local types and fields added, so that all readers of entities read them too.
  package func adding(_ local: LocalSchema) -> EntityCatalogue {
    var shapes = shapes.merging(
      local.types.mapValues(\.shape).merging(
        local.objects.map { ($0, ObjectShape(type: $0, localFields: $1)) },
        uniquingKeysWith: { first, _ in first }),
      uniquingKeysWith: { first, _ in first })
    for (type, parts) in local.extensions {
      let added = ObjectShape(type: type, localFields: parts.flatMap(\.fields))
      shapes[type] = ObjectShape(
        type: type,
        fields: (shapes[type]?.fields ?? [:]).merging(added.fields) { first, _ in first })
    }
    let extended = types.map { type in local.extensions[type.name].map(type.adding) ?? type }
    return EntityCatalogue(
      types: (extended + local.types.values.map(\.entityType)).sorted { $0.name < $1.name },
      possibleTypes: possibleTypes.merging(
        local.interfaces.mapValues(\.types), uniquingKeysWith: { first, _ in first }),
      shapes: shapes)
  }
}

extension OperationRegistry {
  /// Returns the same operations with other descriptions of the same types.
  package func with(types: [EntityType]) -> OperationRegistry {
    OperationRegistry(
      operations: operations,
      catalogue: EntityCatalogue(
        types: types, possibleTypes: catalogue.possibleTypes, shapes: catalogue.shapes),
      views: views, inputObjects: inputObjects, outline: outline,
      interface: interface)
  }

  /// The same operations with a catalogue that includes local types, and with views of them.
  package func adding(_ local: LocalSchema, views added: [EntityView] = []) -> OperationRegistry {
    guard !local.isEmpty else { return self }
    return OperationRegistry(
      operations: operations, catalogue: catalogue.adding(local),
      views: views.merging(added.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
      inputObjects: inputObjects, outline: outline,
      interface: interface)
  }
}
