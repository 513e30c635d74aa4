import GraphQL
import Model

/// Reads the targets of `@effects` and `@sync`, and checks them against types, operations, tags and
/// the operation's own variables.
struct EffectTargetReader {
  /// Names shared by all operations of the folder.
  struct Names {
    var operations: Set<String> = []
    var tags: Set<String> = []
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
  /// several targets.
  mutating func targets(_ text: String, at location: Location) -> [EffectTarget] {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, parts[0] == "tag" { return tag(String(parts[1]), at: location) }
    if parts.count == 2 { return entity(text, at: location).map { [$0] } ?? [] }
    if let type = schema.type(named: text), type.isComposite { return types(type, at: location) }
    guard names.operations.contains(text) else {
      let known = Set(schema.types.filter(\.isComposite).map(\.name)).union(names.operations)
      let hint = NearestNames.didYouMean(text, among: known)
      fault("\"\(text)\" is neither a type nor an operation.\(hint)", at: location)
      return []
    }
    return [.operation(text)]
  }

  /// Reads `Type:$variable`, the only form for a single object.
  mutating func entity(_ text: String, at location: Location) -> EffectTarget? {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasPrefix("$") else {
      fault("\"\(text)\" must have the form Type:$variable.", at: location)
      return nil
    }
    let type = String(parts[0])
    guard let rule = keys[type] else {
      if schema.type(named: type) == nil {
        let hint = NearestNames.didYouMean(type, among: schema.types.names)
        fault("\"\(text)\" names the unknown type \"\(type)\".\(hint)", at: location)
      } else {
        fault("\"\(text)\" names \(type), which has no key and so is not an entity.", at: location)
      }
      return nil
    }
    let path = parts[1].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
      .map(String.init)
    guard checkPath(path, of: rule, text: text, at: location) else { return nil }
    return .entity(type: type, path: path)
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
    let entities = schema.possibleTypes(of: type).map(\.name).filter { keys[$0] != nil }
    if entities.isEmpty {
      fault("\(type.name) has no key and so is not an entity.", at: location)
    }
    return entities.map(EffectTarget.type)
  }

  private mutating func checkPath(
    _ path: [String], of rule: EntityKeyRule, text: String, at location: Location
  ) -> Bool {
    let variables = operation.variableDefinitions
    guard let variable = variables.first(where: { $0.name.value == path[0] }) else {
      let hint = NearestNames.didYouMean(path[0], among: variables.map(\.name.value))
      fault("\"\(text)\" names an unknown variable.\(hint)", at: location)
      return false
    }
    var type = inputTypes.type(of: variable.type).nullable
    for name in path.dropFirst() {
      // The content of a custom scalar is unknown before the call.
      if case .scalar = type { return true }
      guard case .object(let object) = type, let fields = inputTypes.objects[object],
        let field = fields.field(named: name)
      else {
        fault("\"\(text)\": the variable has no field \"\(name)\" at that path.", at: location)
        return false
      }
      type = field.type.nullable
    }
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
