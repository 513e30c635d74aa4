extension SchemaValidator {
  /// Reports input objects that require themselves through non-null fields: no value would be finite
  /// (specification 3.10). A depth-first search with an explicit stack, so that a long chain of types
  /// cannot overflow the thread's.
  mutating func validateInputCycles() {
    var finished = Set<String>()
    for type in schema.types where type.kind == .inputObject && !finished.contains(type.name) {
      searchCycles(from: type, finished: &finished)
    }
  }

  private mutating func searchCycles(from root: NamedType, finished: inout Set<String>) {
    var path: [(type: NamedType, remaining: ArraySlice<InputValue>)] = []
    /// The field that leads on from each type of the path.
    var fields: [InputValue] = []
    var depthByName: [String: Int] = [:]
    func enter(_ type: NamedType) {
      depthByName[type.name] = path.count
      path.append((type, Array(type.inputFields)[...]))
      finished.insert(type.name)
    }
    enter(root)
    while let last = path.last {
      guard let field = last.remaining.first else {
        depthByName[last.type.name] = nil
        path.removeLast()
        _ = fields.popLast()
        continue
      }
      path[path.count - 1].remaining.removeFirst()
      guard field.type.isNonNull, case .named(let name) = field.type.nullable,
        let next = schema.type(named: name.value), next.kind == .inputObject
      else { continue }
      if let start = depthByName[next.name] {
        let cycle = fields[start...] + [field]
        let names = cycle.map(\.name).joined(separator: ".")
        faultCycle(next, names, cycle.map(\.location))
      } else if !finished.contains(next.name) {
        fields.append(field)
        enter(next)
      }
    }
  }

  private mutating func faultCycle(_ type: NamedType, _ names: String, _ locations: [Location]) {
    add(
      Fault(
        .schema,
        "Cannot reference input object \"\(type.name)\" within itself through a series of "
          + "non-null fields: \"\(names)\".", at: locations))
  }
}
