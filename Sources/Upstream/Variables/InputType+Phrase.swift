extension InputType {
  /// The type in words, to follow "must be".
  var phrase: String {
    switch self {
    case .nonNull(let inner): "\(inner.phrase), and not null"
    case .list(let item): "a list, each element \(item.phrase)"
    case .int: "an integer of 32 bits"
    case .float: "a number"
    case .string: "a string"
    case .boolean: "true or false"
    case .id: "an id (a string or an integer)"
    case .enumeration(let name, _): "a value of \(name)"
    case .object(let name): "an object of type \(name)"
    case .scalar(let name, number: nil): "a value of \(name)"
    case .scalar(_, number: .integer): "an integer"
    case .scalar(_, number: .real): "a number"
    }
  }
}
