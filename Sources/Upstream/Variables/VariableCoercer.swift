import GraphQL
import LosslessJSON
import Model

/// Coerces variables to their declared types (specification, section 6.1.2), and collects all
/// faults.
struct VariableCoercer {
  /// A coerced value in its two forms.
  struct Coerced {
    /// As given, with original digits: the form sent upstream.
    var sent: JSONValue
    /// With defaults of input fields applied and numbers canonical: the form that calls are
    /// compared by.
    var full: JSONValue

    init(_ value: JSONValue) {
      sent = value
      full = value
    }

    init(sent: JSONValue, full: JSONValue) {
      self.sent = sent
      self.full = full
    }
  }

  let variables: [OperationVariable]
  let inputObjects: InputObjectTypes
  private(set) var faults: [Failure.Detail] = []
  private var given: [String: Coerced] = [:]
  /// Whether the body was not an object; missing variables are not reported then.
  private var isUnreadable = false

  init(variables: [OperationVariable], inputObjects: InputObjectTypes) {
    self.variables = variables
    self.inputObjects = inputObjects
  }

  static func coerce(
    _ input: VariableInput, variables: [OperationVariable], inputObjects: InputObjectTypes
  ) throws(VariableFaults) -> Variables {
    var coercer = VariableCoercer(variables: variables, inputObjects: inputObjects)
    switch input {
    case .parameters(let path, let query):
      coercer.readPath(path)
      coercer.readQuery(query)
    case .body(let bytes, let path):
      coercer.readPath(path)
      coercer.readBody(bytes)
    case .value(let value):
      coercer.read(value)
    }
    return try coercer.finish()
  }

  mutating func fault(_ place: Failure.Detail.Place, _ detail: String) {
    guard faults.count < Failure.Detail.countMax else { return }
    faults.append(Failure.Detail(place: place, detail: detail))
  }

  /// A suggestion for an unknown name, only for the first faults: a body can have as many as it has
  /// bytes, and each comparison takes time proportional to the product of two lengths.
  func hint(_ name: String, among names: @autoclosure () -> [String]) -> String {
    faults.count < Self.hintsMax ? NearestNames.didYouMean(name, among: names()) : ""
  }

  private static let hintsMax = 20

  // MARK: Sources

  private mutating func readPath(_ parameters: [VariableInput.Parameter]) {
    for parameter in parameters {
      guard let variable = variable(named: parameter.name) else {
        fault(.parameter(parameter.name), "is not a variable of this operation")
        continue
      }
      let value = coerce([parameter.value], as: variable.type, at: .parameter(parameter.name))
      if let value { given[variable.name] = value }
    }
  }

  private mutating func readQuery(_ parameters: [VariableInput.Parameter]) {
    var tree = ParameterTree()
    for parameter in parameters { tree.add(parameter) }
    for child in tree.children {
      let (name, node) = (child.name, child.node)
      guard let variable = variable(named: name) else {
        fault(.parameter(node.firstName), unknown(name))
        continue
      }
      guard given[name] == nil else {
        fault(.parameter(name), "is already given by the path")
        continue
      }
      if let value = coerce(node, as: variable.type, name: name) { given[name] = value }
    }
  }

  private mutating func readBody(_ bytes: [UInt8]) {
    let body: JSONValue
    do {
      body = try JSONValue(parsing: bytes)
    } catch {
      isUnreadable = true
      return fault(.pointer(""), error.description)
    }
    read(body)
  }

  private mutating func read(_ body: JSONValue) {
    guard let members = body.members else {
      isUnreadable = true
      return fault(.pointer(""), "must be a JSON object of variables")
    }
    let repeated = members.repeatedPositions
    for (position, member) in members.enumerated() {
      let pointer = JSONPointer.root.appending(member.name)
      guard !repeated.contains(position) else {
        fault(.pointer(pointer.text), "is given more than once")
        continue
      }
      guard let variable = variable(named: member.name) else {
        let hint = hint(member.name, among: variables.map(\.name))
        fault(.pointer(pointer.text), "is not a variable of this operation.\(hint)")
        continue
      }
      let place = ValuePlace.body(pointer)
      guard let value = coerce(member.value, as: variable.type, at: place) else { continue }
      if let other = given[member.name], other.full != value.full {
        fault(.pointer(pointer.text), "differs from the same variable in the path")
      }
      given[member.name] = value
    }
  }

  /// The fault of a parameter that is not a variable.
  private func unknown(_ name: String) -> String {
    guard !Self.ofEntities.contains(name) else {
      return "is not a variable of this operation, whose selection says what is nested; \(name) is "
        + "a parameter of /v1/entities/{Type}, also with /diff and /stream"
    }
    return "is not a variable of this operation.\(hint(name, among: variables.map(\.name)))"
  }

  /// Parameters of entity reads that clients also try on operations.
  private static let ofEntities: Set = ["include", "view"]

  private func variable(named name: String) -> OperationVariable? {
    variables.first { $0.name == name }
  }

  // MARK: Result

  private mutating func finish() throws(VariableFaults) -> Variables {
    var sent: [JSONMember] = []
    var values: [String: JSONValue] = [:]
    for variable in variables {
      if let value = given[variable.name] {
        sent.append(JSONMember(variable.name, value.sent))
        values[variable.name] = value.full
      } else if let value = variable.defaultValue {
        values[variable.name] = value
      } else if variable.isRequired, !isUnreadable, !isFaulty(variable) {
        fault(.parameter(variable.name), "is required (\(variable.typeText))")
      }
    }
    guard faults.isEmpty else { throw VariableFaults(faults) }
    return Variables(json: JSONValue.object(sent).text, values: values)
  }

  /// Whether a variable has a fault already, so that it is not also reported as missing.
  private func isFaulty(_ variable: OperationVariable) -> Bool {
    faults.contains { fault in
      switch fault.place {
      case .parameter(let name): name == variable.name || name.hasPrefix("\(variable.name).")
      case .pointer(let text):
        text == "/\(variable.name)" || text.hasPrefix("/\(variable.name)/")
      }
    }
  }
}
