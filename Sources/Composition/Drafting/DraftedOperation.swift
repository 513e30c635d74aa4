import GraphQL

/// An operation that `larder init` writes, as a file of its own.
struct DraftedOperation: Sendable {
  let name: String
  let kind: OperationType
  /// The name of the root field.
  let field: String
  /// The path of `@route`; nil without one.
  let route: String?
  /// Relative to the folder of operations.
  let fileName: String
  var text: String
  /// Whether its result is a list, or a page of one.
  let isList: Bool
  /// Whether it can be called without a variable.
  let needsNoVariable: Bool
  /// For a list: the size argument's variable, to keep a trial small.
  let sizeVariable: String?
  /// For an item by one key: the name of the key's variable and that of the item's type.
  let lookup: Lookup?
  /// The name of the type of the root field's value, or of the elements of its list.
  let typeName: String
  /// The fields that the selection leaves out.
  var omitted: [OmittedSelection] = []

  struct Lookup: Hashable, Sendable {
    let variable: String
    let type: String
    /// The field of the type that has the key's value.
    let keyField: String
  }
}

/// A root field without an operation, and the reason.
struct OmittedField: Hashable, Sendable {
  let kind: OperationType
  let field: String
  let reason: String

  /// One line, for a terminal or a comment.
  var line: String { "\(kind.rawValue) \(field): \(reason)".onOneLine }
}

/// A field that the selection of a drafted operation leaves out.
struct OmittedSelection: Hashable, Sendable {
  enum Reason: Hashable, Sendable {
    case list
    /// The names of the arguments that it requires.
    case arguments([String])
    case deprecated
    /// The same field of another type of the union or interface has another type.
    case otherType
    /// The selection would be too large.
    case size
    /// An object without a field that can be selected.
    case nothingWithin
    case reserved

    /// The beginning of a line that names such fields.
    fileprivate var title: String {
      switch self {
      case .list: "Lists left out; select them with a limit, if they have one"
      case .arguments: "Left out because of required arguments; select them with values"
      case .deprecated: "Left out because they are deprecated"
      case .otherType:
        "Left out because fields of one name have several types; select them with an alias"
      case .size: "Left out to keep the response small"
      case .nothingWithin: "Left out because none of their fields can be selected without arguments"
      case .reserved: "Left out because names with larder_ are reserved"
      }
    }
  }

  let field: String
  let reason: Reason

  private var text: String {
    guard case .arguments(let names) = reason else { return field }
    return "\(field)(\(names.joined(separator: ", ")))"
  }

  /// The maximum number of fields that a line names.
  private static let namedMax = 20

  /// Lines that name all fields, one for each reason.
  static func lines(_ all: [OmittedSelection]) -> [String] {
    var titles: [String] = []
    var fields: [String: [String]] = [:]
    for one in all {
      let title = one.reason.title
      if fields[title] == nil { titles.append(title) }
      if fields[title]?.contains(one.text) != true { fields[title, default: []].append(one.text) }
    }
    return titles.map { title in
      let names = fields[title] ?? []
      let more = names.count > namedMax ? ", and \(names.count - namedMax) more" : ""
      return "\(title): \(names.prefix(namedMax).joined(separator: ", "))\(more)"
    }
  }
}
