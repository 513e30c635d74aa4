import GraphQL
import Model

/// Reads the targets of `@effects` and `@sync`, and checks them against types, operations, tags and
/// the operation's own variables and selections.
struct EffectTargetReader {
  /// Names shared by the operations of all upstreams.
  struct Names {
    var operations: Set<String> = []
    var tags: Set<String> = []
    /// Of the operation's own upstream.
    var fragments: [String: FragmentDefinition] = [:]

    mutating func add(_ other: Names) {
      operations.formUnion(other.operations)
      tags.formUnion(other.tags)
    }
  }

  let schema: Schema
  let keys: EntityKeys
  let names: Names
  let inputTypes: InputTypes
  let operation: OperationDefinition
  private(set) var findings: [Finding] = []

  init(
    schema: Schema, keys: EntityKeys, names: Names, inputTypes: InputTypes,
    operation: OperationDefinition
  ) {
    self.schema = schema
    self.keys = keys
    self.names = names
    self.inputTypes = inputTypes
    self.operation = operation
  }

  /// Reads one target text. An abstract type stands for all its entity types, so one text can give
  /// several targets. A type of another upstream has the name that it is stored under.
  mutating func targets(_ text: String, at location: Location) -> [EffectTarget] {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, parts[0] == "tag" { return tag(String(parts[1]), at: location) }
    if parts.count == 2 { return namedEntity(text, at: location).map { [$0] } ?? [] }
    if let type = schema.type(named: text), type.isComposite { return types(type, at: location) }
    if let rule = keys.rule(stored: text) { return [.type(rule.type)] }
    guard names.operations.contains(text) else {
      let known = Set(schema.types.filter(\.isComposite).map(\.name)).union(names.operations)
      let hint = NearestNames.didYouMean(text, among: known)
      fault("\"\(text)\" is neither a type nor an operation.\(hint)", at: location)
      return []
    }
    return [.operation(text)]
  }

  /// Reads `Type:$variable` or `Type:{path}`, the forms for entities that a variable or the response
  /// names.
  mutating func namedEntity(_ text: String, at location: Location) -> EffectTarget? {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasPrefix("{") else {
      return entity(text, at: location, orElse: " or Type:{path.in.the.response}")
    }
    guard parts[1].hasSuffix("}"), parts[1].count > 2 else {
      fault("\"\(text)\" must have the form Type:{path.in.the.response}.", at: location)
      return nil
    }
    guard let rule = rule(of: String(parts[0]), text: text, at: location) else { return nil }
    let path = parts[1].dropFirst().dropLast()
      .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let checker = PayloadPathChecker(
      schema: schema, fragments: names.fragments, operation: operation)
    if let message = checker.fault(in: path, naming: rule) {
      fault("\"\(text)\": \(message)", at: location)
      return nil
    }
    return .payload(type: rule.type, path: path)
  }

  /// Reads `Type:$variable`, the only form for an object that must be known before the operation is
  /// sent.
  mutating func entity(
    _ text: String, at location: Location, orElse others: String = ""
  ) -> EffectTarget? {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasPrefix("$") else {
      fault("\"\(text)\" must have the form Type:$variable\(others).", at: location)
      return nil
    }
    guard let rule = rule(of: String(parts[0]), text: text, at: location) else { return nil }
    let path = parts[1].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
      .map(String.init)
    guard checkPath(path, of: rule, text: text, at: location) else { return nil }
    return .entity(type: rule.type, path: path)
  }

  /// Reads one change of `@sync(optimistic:)`; nil if it has a fault.
  mutating func optimistic(_ text: String, at location: Location) -> OptimisticRule? {
    let syntax: OptimisticSyntax
    do throws(OptimisticSyntax.Fault) {
      syntax = try OptimisticSyntax(parsing: text)
    } catch {
      fault("@sync(optimistic: \"\(text)\") \(error.message).", at: location)
      return nil
    }
    let countBefore = findings.count
    var target: EffectTarget?
    if let path = syntax.path {
      target = entity("\(syntax.type):$\(path.joined(separator: "."))", at: location)
      guard target != nil else { return nil }
    }
    guard let rule = rule(of: syntax.type, text: text, at: location) else { return nil }
    for path in syntax.variables { _ = variableType(at: path, text: text, at: location) }
    if let type = schema.type(named: syntax.type) {
      for field in syntax.fields where type.fields[field.name] == nil {
        let hint = NearestNames.didYouMean(field.name, among: type.fields.names)
        fault("\"\(text)\": \(type.name) has no field \"\(field.name)\".\(hint)", at: location)
      }
    }
    guard findings.count == countBefore else { return nil }
    return OptimisticRule(
      action: syntax.action, type: rule.type, target: target, fields: syntax.fields)
  }

  private mutating func rule(
    of type: String, text: String, at location: Location
  ) -> EntityKeyRule? {
    guard let rule = keys[type] ?? keys.rule(stored: type) else {
      if schema.type(named: type) == nil {
        let hint = NearestNames.didYouMean(type, among: schema.types.names)
        fault("\"\(text)\" names the unknown type \"\(type)\".\(hint)", at: location)
      } else {
        fault("\"\(text)\" names \(type), which has no key and so is not an entity.", at: location)
      }
      return nil
    }
    return rule
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  private mutating func tag(_ name: String, at location: Location) -> [EffectTarget] {
    if names.tags.contains(name) { return [.tag(name)] }
    let hint = NearestNames.didYouMean(name, among: names.tags)
    fault("No operation has the tag \"\(name)\".\(hint)", at: location)
    return []
  }

  private mutating func types(_ type: NamedType, at location: Location) -> [EffectTarget] {
    let entities = schema.possibleTypes(of: type).compactMap { keys[$0.name]?.type }
    if entities.isEmpty {
      fault("\(type.name) has no key and so is not an entity.", at: location)
    }
    return entities.map(EffectTarget.type)
  }

  /// Returns the nullable type of a variable at a path, or of the custom scalar on the way; nil after a
  /// fault.
  private mutating func variableType(
    at path: [String], text: String, at location: Location
  ) -> InputType? {
    let variables = operation.variableDefinitions
    guard let variable = variables.first(where: { $0.name.value == path[0] }) else {
      let hint = NearestNames.didYouMean(path[0], among: variables.map(\.name.value))
      fault("\"\(text)\" names an unknown variable.\(hint)", at: location)
      return nil
    }
    var type = inputTypes.type(of: variable.type).nullable
    for name in path.dropFirst() {
      // The content of a custom scalar is unknown before the call.
      if case .scalar = type { return type }
      guard case .object(let object) = type, let fields = inputTypes.objects[object],
        let field = fields.field(named: name)
      else {
        fault("\"\(text)\": the variable has no field \"\(name)\" at that path.", at: location)
        return nil
      }
      type = field.type.nullable
    }
    return type
  }

  private mutating func checkPath(
    _ path: [String], of rule: EntityKeyRule, text: String, at location: Location
  ) -> Bool {
    guard let type = variableType(at: path, text: text, at: location) else { return false }
    switch type {
    case .list:
      fault("\"\(text)\" refers to a list; it must refer to one object.", at: location)
      return false
    case .object(let name):
      let fields = inputTypes.objects[name]
      guard rule.parts.allSatisfy({ fields?.field(named: $0.field) != nil }) else {
        fault("\"\(text)\" refers to \(name), which lacks the key of \(rule.type).", at: location)
        return false
      }
      return true
    case .scalar: return true
    default:
      guard rule.parts.count == 1 else {
        fault(
          "\"\(text)\" refers to one value; the key of \(rule.type) has several fields.",
          at: location)
        return false
      }
      return true
    }
  }
}
